// The script of the report: search, sorting, more cards, and the map. Cards beyond the first ones are
// built from the data on demand. Texts are only ever assigned to textContent.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);
  const number = new Intl.NumberFormat("en");
  const { first: STEP, doubt: DOUBT, cards: packed } = JSON.parse(byId("data").textContent);
  const cards = packed.map(([id, name, tone, size, share, coherence, trust, words, quotes]) => ({
    id, name, tone, size, share, coherence, trust, words, quotes, element: byId(`cluster-${id}`), haystack: null,
  }));
  const cardOf = new Map(cards.map((card) => [String(card.id), card]));

  for (const element of document.querySelectorAll(".js-only")) element.hidden = false;
  setUpOutliers();
  if (!cards.length) return;
  const bubbles = [...document.querySelectorAll(".bubble")];
  setUpMap();

  // ---------------------------------------------------------------- the list of cards
  const list = byId("cards"), search = byId("search"), sort = byId("sort"), more = byId("more"), before = byId("before");
  const collator = new Intl.Collator(undefined, { numeric: true });
  const orders = {
    size: (a, b) => b.size - a.size,
    name: (a, b) => collator.compare(a.name, b.name),
    coherence: (a, b) => (b.coherence ?? -Infinity) - (a.coherence ?? -Infinity) || b.size - a.size,
    trust: (a, b) => (b.trust ?? -Infinity) - (a.trust ?? -Infinity) || b.size - a.size,
  };
  let found = cards, start = 0, limit = STEP; // found[start .. limit) is in the page

  byId("tools").hidden = false;
  byId("tools").addEventListener("submit", (event) => event.preventDefault());
  let pause = 0;
  search.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(update, 80);
  });
  sort.addEventListener("change", update);
  more.addEventListener("click", () => {
    const next = found[limit];
    limit += STEP;
    show();
    next.element.focus({ preventScroll: true });
  });
  before.addEventListener("click", () => {
    const last = found[start];
    start = Math.max(0, start - STEP);
    show();
    last.element.scrollIntoView();
    last.element.focus({ preventScroll: true });
  });
  window.addEventListener("hashchange", jump);
  document.addEventListener("click", (event) => {
    // a second click on the same link does not change the address, so it fires no event
    const link = event.target.closest('a[href^="#cluster-"]');
    if (link && link.getAttribute("href") === location.hash) jump();
  });
  update(); // the browser may restore a search after a reload
  jump();

  function update() {
    const wanted = fold(search.value).split(/\s+/).filter(Boolean);
    const matches = (card) => {
      card.haystack ??= fold(textOf(card));
      return wanted.every((word) => card.haystack.includes(word));
    };
    found = (wanted.length ? cards.filter(matches) : cards.slice()).sort(orders[sort.value]);
    [start, limit] = [0, STEP];
    const kept = wanted.length ? new Set(found.map((card) => String(card.id))) : null;
    for (const bubble of bubbles) bubble.classList.toggle("dim", kept !== null && !kept.has(bubble.dataset.id));
    show();
  }

  function show() {
    const shown = found.slice(start, limit);
    list.replaceChildren(...shown.map((card) => (card.element ??= build(card))));
    before.hidden = start === 0;
    before.textContent = `Show ${Math.min(start, STEP)} previous (${number.format(start)} above)`;
    const left = found.length - start - shown.length;
    more.hidden = left <= 0;
    more.textContent = `Show ${Math.min(left, STEP)} more (${number.format(left)} left)`;
    const all = number.format(cards.length);
    byId("status").textContent = !found.length ? "No matching clusters."
      : found.length < cards.length ? `${number.format(found.length)} of ${all} clusters`
      : `${all} ${cards.length === 1 ? "cluster" : "clusters"}`;
  }

  function jump() {
    const card = cardOf.get((/^#cluster-(-?\d+)$/.exec(location.hash) ?? [])[1]);
    if (!card) return;
    if (!found.includes(card)) {
      search.value = "";
      update();
    }
    const place = found.indexOf(card);
    if (place < start || place >= limit) {
      // only the cards around it, since building a thousand takes seconds
      start = Math.floor(place / STEP) * STEP;
      limit = start + STEP;
      show();
    }
    card.element.scrollIntoView();
    card.element.focus({ preventScroll: true });
    for (const marked of document.querySelectorAll(".card.here")) marked.classList.remove("here");
    card.element.classList.add("here");
  }

  function build(card) {
    const element = clone("card-template");
    element.id = `cluster-${card.id}`;
    const doubtful = card.trust !== null && card.trust < DOUBT;
    element.className = `card t${card.tone}${doubtful ? " doubtful" : ""}`;
    element.setAttribute("aria-labelledby", `name-${card.id}`);
    element.querySelector("h3").id = `name-${card.id}`;
    fill(element, {
      name: card.name,
      size: number.format(card.size),
      texts: card.size === 1 ? "text" : "texts",
      share: card.share,
      anchor: `#${card.id}`,
    });
    const anchor = slot(element, "anchor");
    anchor.setAttribute("href", `#cluster-${card.id}`);
    anchor.setAttribute("aria-label", `link to cluster ${card.id}`);
    slot(element, "coherence").hidden = card.coherence === null;
    if (card.coherence !== null) slot(element, "value").textContent = card.coherence.toFixed(2);
    slot(element, "trust").hidden = card.trust === null;
    slot(element, "doubt").hidden = !doubtful;
    if (card.trust !== null) slot(element, "trusted").textContent = card.trust.toFixed(2);
    slot(element, "words").replaceChildren(...card.words.map(([word, bar, times]) => {
      const row = fill(clone("word-template"), { word, times });
      row.querySelector("rect").setAttribute("width", `${bar}%`);
      return row;
    }));
    slot(element, "quotes").replaceChildren(...card.quotes.map(([row, sure, pieces]) => {
      const item = fill(clone("quote-template"), { row, sure });
      slot(item, "text").replaceChildren(...pieces.map(piece));
      return item;
    }));
    return element;
  }

  function piece(part) {
    if (typeof part === "string") return document.createTextNode(part);
    const mark = document.createElement("mark");
    mark.className = `m${part[1]}`;
    mark.textContent = part[0];
    return mark;
  }

  function clone(id) {
    return byId(id).content.firstElementChild.cloneNode(true);
  }

  function fill(element, texts) {
    for (const [name, text] of Object.entries(texts)) slot(element, name).textContent = text;
    return element;
  }

  function textOf(card) {
    const pieces = (parts) => parts.map((part) => (typeof part === "string" ? part : part[0])).join("");
    return [`#${card.id}`, card.name, ...card.words.map(([word]) => word),
      ...card.quotes.map(([row, , parts]) => `${row} ${pieces(parts)}`)].join("\n");
  }

  function fold(text) {
    return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  }

  // ---------------------------------------------------------------- the map
  function setUpMap() {
    const figure = byId("map-figure"), tip = byId("tip");
    for (const bubble of bubbles) {
      const title = bubble.querySelector("title"); // the slow tooltip of the browser; ours shows more
      bubble.setAttribute("aria-label", title.textContent);
      title.remove();
    }
    const of = (event) => event.target.closest?.(".bubble");
    const enter = (event) => of(event) && point(of(event));
    figure.addEventListener("pointerover", enter);
    figure.addEventListener("focusin", (event) => {
      if (!of(event)) return;
      for (const bubble of bubbles) bubble.setAttribute("tabindex", bubble === of(event) ? "0" : "-1");
      enter(event);
    });
    figure.addEventListener("pointerout", leave);
    figure.addEventListener("focusout", leave);
    figure.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (event.key === "Escape") leave();
      if (!way || !of(event)) return;
      event.preventDefault();
      nearest(of(event), way)?.focus();
    });

    function point(bubble) {
      const card = cardOf.get(bubble.dataset.id);
      if (!card) return;
      fill(tip, {
        name: card.name,
        facts: `${number.format(card.size)} ${card.size === 1 ? "text" : "texts"} · ${card.share}`,
        words: card.words.slice(0, 8).map(([word]) => word).join(", "),
      });
      tip.hidden = false;
      const frame = figure.getBoundingClientRect(), box = bubble.getBoundingClientRect();
      const left = box.left + box.width / 2 - frame.left - tip.offsetWidth / 2;
      const above = box.top - frame.top - tip.offsetHeight - 8;
      tip.style.left = `${Math.max(0, Math.min(left, frame.width - tip.offsetWidth))}px`;
      tip.style.top = `${above >= 0 ? above : box.bottom - frame.top + 8}px`;
    }

    function leave() {
      tip.hidden = true;
    }
  }

  function nearest(from, [right, down]) {
    const at = (bubble) => {
      const { cx, cy } = bubble.firstElementChild;
      return [cx.baseVal.value, cy.baseVal.value];
    };
    const [x, y] = at(from);
    let best = null, least = Infinity;
    for (const bubble of bubbles) {
      const [dx, dy] = [at(bubble)[0] - x, at(bubble)[1] - y];
      const along = dx * right + dy * down, aside = Math.abs(dx * down) + Math.abs(dy * right);
      if (bubble !== from && along > 0 && along + 2 * aside < least) [best, least] = [bubble, along + 2 * aside];
    }
    return best;
  }

  // ---------------------------------------------------------------- the outliers
  function setUpOutliers() {
    const button = byId("show-outliers"), rows = byId("more-outliers");
    if (!button) return;
    rows.hidden = true;
    button.hidden = false;
    button.addEventListener("click", () => {
      rows.hidden = false;
      button.setAttribute("aria-expanded", "true");
      button.hidden = true;
      rows.querySelector("a, td")?.focus?.();
    });
  }
})();
