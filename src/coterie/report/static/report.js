// The script of the report: search, sorting and more cards; it starts the others. Cards beyond the first ones are
// built from the data on demand. Texts are only ever assigned to textContent.
const byId = (id) => document.getElementById(id);
const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);
const number = new Intl.NumberFormat("en");
const { first: STEP, doubt: DOUBT, cards: packed, texts, dial, trend } = JSON.parse(byId("data").textContent);
const fitted = packed.map(([id, name, tone, size, share, coherence, trust, words, quotes]) => ({
  id, name, tone, size, share, coherence, trust, words, quotes, element: byId(`cluster-${id}`), haystack: null,
}));
const cardOf = new Map(fitted.map((card) => [String(card.id), card]));

for (const element of document.querySelectorAll(".js-only")) element.hidden = false;
setUpOutliers();
if (!fitted.length) return;
let cards = fitted; // of the level that the dial shows
const bubbles = [...document.querySelectorAll(".bubble")];
const map = setUpMap();

// ---------------------------------------------------------------- the list of cards
const list = byId("cards"), search = byId("search"), sort = byId("sort"), more = byId("more"), before = byId("before");
const collator = new Intl.Collator(undefined, { numeric: true });
const orders = {
  size: (a, b) => b.size - a.size,
  name: (a, b) => collator.compare(a.name, b.name),
  coherence: (a, b) => (b.coherence ?? -Infinity) - (a.coherence ?? -Infinity) || b.size - a.size,
  trend: (a, b) => STATES.indexOf(stateOf(a)) - STATES.indexOf(stateOf(b)) || b.size - a.size,
  trust: (a, b) => (b.trust ?? -Infinity) - (a.trust ?? -Infinity) || b.size - a.size,
};
let rest = 0;
let found = cards, start = 0, limit = STEP; // found[start .. limit) is in the page

byId("tools").hidden = false;
byId("tools").addEventListener("submit", (event) => event.preventDefault());
let pause = 0;
search.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(update, 80);
});
sort.addEventListener("change", () => update());
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
setUpTexts();
setUpDial();
update(); // the browser may restore a search after a reload
jump();

function update(few) {
  const wanted = fold(search.value).split(/\s+/).filter(Boolean);
  const matches = (card) => wanted.every((word) => haystackOf(card).includes(word));
  found = (wanted.length ? cards.filter(matches) : cards.slice()).sort(orders[sort.value]);
  [start, limit] = [0, STEP];
  const kept = wanted.length ? new Set(found.map((card) => String(card.id))) : null;
  for (const bubble of bubbles) bubble.classList.toggle("dim", kept !== null && cards === fitted && !kept.has(bubble.dataset.id));
  show(few);
}

function setLevel(n) {
  cards = cardsAt(n);
  sayLevel(n);
  update(10); // those in view now, the others after they are drawn
  map?.cut();
}

function show(few = Infinity) {
  clearTimeout(rest);
  const shown = found.slice(start, Math.min(limit, start + few));
  if (start + few < Math.min(limit, found.length)) rest = setTimeout(show, 60);
  list.replaceChildren(...shown.map((card) => (card.element ??= build(card))));
  shown.forEach(attachReader);
  before.hidden = start === 0;
  before.textContent = `Show ${Math.min(start, STEP)} previous (${number.format(start)} above)`;
  const left = found.length - Math.min(limit, found.length);
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
  if (cards !== fitted) {
    byId("dial").value = String(dial.values.indexOf(dial.fitted));
    setLevel(dial.fitted);
  }
  goTo(card);
}

function goTo(card) {
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
  anchor.hidden = Boolean(card.leaves);
  slot(element, "coherence").hidden = card.coherence === null;
  if (card.coherence !== null) slot(element, "value").textContent = card.coherence.toFixed(2);
  slot(element, "trust").hidden = card.trust === null;
  slot(element, "doubt").hidden = !doubtful;
  if (card.trust !== null) slot(element, "trusted").textContent = card.trust.toFixed(2);
  showTrend(card, element);
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
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

// ---------------------------------------------------------------- the outliers
function setUpOutliers() {
  const slider = byId("strange"), lines = [...document.querySelectorAll(".outliers tbody tr")];
  slider?.addEventListener("input", () => {
    let shown = 0;
    for (const line of lines) {
      line.hidden = Number(line.dataset.score) < Number(slider.value);
      shown += !line.hidden;
    }
    byId("show-outliers")?.click();
    byId("strange-says").textContent = `${Number(slider.value).toFixed(4)}: ${shown} of ${lines.length} texts`;
  });
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
