// The map: bubbles of clusters in SVG, for links, keyboard and paper; below them a canvas with a dot per
// text and the labels. Both show the same part of the picture, so that they zoom together.
const MAP_WIDTH = 960, MAP_HEIGHT = 600, PER_UNIT = 10; // texts are placed in tenths of a unit
const MOST_ZOOM = 40, MOST_LABELS = 60;

function setUpMap() {
  const figure = byId("map-figure"), tip = byId("tip");
  if (!figure) return null;
  const svg = figure.querySelector("svg"), canvas = byId("dots"), view = { x: 0, y: 0, zoom: 1 };
  const of = (event) => event.target.closest?.(".bubble");
  let groupOf = new Map(), dotTone = null, pending = 0, dragged = false;
  for (const bubble of bubbles) {
    const title = bubble.querySelector("title"); // the slow tooltip of the browser; ours shows more
    bubble.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  figure.classList.add("live");
  byId("zoom").hidden = false;
  setUpPointing();
  setUpZooming();
  new ResizeObserver(redraw).observe(svg);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  cut();
  return { cut, view };

  // ------------------------------------------------------------ what belongs to what at this level
  function cut() {
    groupOf = new Map();
    if (cards === fitted) for (const card of fitted) groupOf.set(String(card.id), card);
    else if (texts) for (const card of cards) claim(card);
    for (const bubble of bubbles) {
      const card = groupOf.get(bubble.dataset.id);
      bubble.setAttribute("class", `bubble t${(card ?? cardOf.get(bubble.dataset.id))?.tone ?? 0}`);
    }
    if (texts) {
      dotTone = new Uint8Array(texts.x.length);
      if (cards === fitted) texts.cluster.forEach((k, i) => { dotTone[i] = cardOf.get(String(k))?.tone ?? 0; });
      else for (const card of cards) for (const i of card.rows) dotTone[i] = card.tone;
    }
    redraw();
  }

  // A bubble belongs to the group that most of its texts are in.
  function claim(card) {
    for (const [cluster, n] of card.times) {
      const other = groupOf.get(String(cluster));
      if (!other || other.times.get(cluster) < n) groupOf.set(String(cluster), card);
    }
  }

  // ------------------------------------------------------------ drawing
  function redraw() {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(draw);
  }

  function draw() {
    const wide = MAP_WIDTH / view.zoom, high = MAP_HEIGHT / view.zoom;
    view.x = Math.max(0, Math.min(view.x, MAP_WIDTH - wide));
    view.y = Math.max(0, Math.min(view.y, MAP_HEIGHT - high));
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${wide} ${high}`);
    const box = svg.getBoundingClientRect(), fine = devicePixelRatio || 1;
    canvas.width = Math.round(box.width * fine);
    canvas.height = Math.round(box.height * fine);
    canvas.style.width = `${box.width}px`;
    canvas.style.height = `${box.height}px`;
    const pen = canvas.getContext("2d"), scale = box.width / wide;
    pen.scale(fine, fine);
    const style = getComputedStyle(document.documentElement);
    const tones = [0, 1, 2, 3, 4, 5].map((t) => style.getPropertyValue(`--t${t}`).trim());
    const at = (x, y) => [(x - view.x) * scale, (y - view.y) * scale];
    drawBridges(pen, tones, at, scale);
    if (texts) drawDots(pen, tones, scale, box);
    drawLabels(pen, style, at, box);
  }

  // Bubbles of one group are tied together.
  function drawBridges(pen, tones, at, scale) {
    if (cards === fitted) return;
    const members = new Map();
    for (const bubble of bubbles) {
      const card = groupOf.get(bubble.dataset.id), { cx, cy, r } = bubble.firstElementChild;
      if (card) members.set(card, [...(members.get(card) ?? []), [cx.baseVal.value, cy.baseVal.value, r.baseVal.value]]);
    }
    pen.globalAlpha = 0.28;
    pen.lineCap = "round";
    for (const [card, own] of members) { // far ones are only coloured alike: lines across the map would hide it
      pen.strokeStyle = tones[card.tone];
      for (let i = 1; i < own.length; i++) { // each to the nearest of those before it
        let best = 0;
        const far = (j) => Math.hypot(own[i][0] - own[j][0], own[i][1] - own[j][1]);
        for (let j = 1; j < i; j++) if (far(j) < far(best)) best = j;
        if (far(best) - own[i][2] - own[best][2] > 40) continue;
        pen.lineWidth = Math.max(3, Math.min(own[i][2], own[best][2]) * scale * 0.7);
        pen.beginPath();
        pen.moveTo(...at(own[i][0], own[i][1]));
        pen.lineTo(...at(own[best][0], own[best][1]));
        pen.stroke();
      }
    }
    pen.globalAlpha = 1;
  }

  function drawDots(pen, tones, scale, box) {
    const size = Math.max(1.3, Math.min(9, 1.5 * scale ** 0.7)), step = scale / PER_UNIT;
    const left = view.x * PER_UNIT, top = view.y * PER_UNIT;
    pen.globalAlpha = 0.8;
    tones.forEach((colour, tone) => {
      pen.fillStyle = colour;
      for (let i = 0; i < texts.x.length; i++) {
        if (dotTone[i] !== tone) continue;
        const x = (texts.x[i] - left) * step, y = (texts.y[i] - top) * step;
        if (x > -9 && y > -9 && x < box.width + 9 && y < box.height + 9) pen.fillRect(x - size / 2, y - size / 2, size, size);
      }
    });
    pen.globalAlpha = 1;
  }

  // The largest groups in view first, so that no small one takes the place of a large one's label.
  function drawLabels(pen, style, at, box) {
    const taken = [], most = cards[0]?.size ?? 1, family = getComputedStyle(document.body).fontFamily;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.strokeStyle = style.getPropertyValue("--sheet");
    pen.fillStyle = style.getPropertyValue("--ink");
    for (const card of cards) {
      if (taken.length >= MOST_LABELS) break;
      const place = placeOf(card);
      if (!place) continue;
      const [x, y] = at(...place), font = 11.5 + 3.5 * Math.sqrt(card.size / most);
      if (x < 0 || y < 0 || x > box.width || y > box.height) continue;
      pen.font = `600 ${font}px ${family}`;
      const says = card.name.length > 26 ? `${card.name.slice(0, 25)}…` : card.name;
      const half = pen.measureText(says).width / 2 + 3;
      const middle = Math.max(half, Math.min(x, box.width - half));
      const own = [middle - half, y - font * 0.7, middle + half, y + font * 0.7];
      if (taken.some((b) => own[0] < b[2] && b[0] < own[2] && own[1] < b[3] && b[1] < own[3])) continue;
      taken.push(own);
      pen.strokeText(says, middle, y);
      pen.fillText(says, middle, y);
    }
    canvas.dataset.labels = String(taken.length);
  }

  // Where a group's label stands: its bubble, or the middle of its texts in the bubble most of them are in.
  function placeOf(card) {
    if (card.place === undefined) {
      card.place = null;
      if (!card.leaves || !texts) {
        const circle = byBubble(card.id)?.firstElementChild;
        if (circle) card.place = [circle.cx.baseVal.value, circle.cy.baseVal.value];
      } else {
        const own = card.rows.filter((i) => texts.cluster[i] === card.home);
        const mean = (values) => own.reduce((sum, i) => sum + values[i], 0) / own.length / PER_UNIT;
        if (own.length) card.place = [mean(texts.x), mean(texts.y)];
      }
    }
    return card.place;
  }

  function byBubble(id) {
    return bubbles.find((bubble) => bubble.dataset.id === String(id));
  }

  // ------------------------------------------------------------ zooming
  function setUpZooming() {
    const middle = () => [view.x + MAP_WIDTH / view.zoom / 2, view.y + MAP_HEIGHT / view.zoom / 2];
    byId("zoom-in").addEventListener("click", () => zoom(1.6, middle()));
    byId("zoom-out").addEventListener("click", () => zoom(1 / 1.6, middle()));
    byId("zoom-all").addEventListener("click", () => zoom(0, middle()));
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 200), inPicture(event));
    }, { passive: false });
    let from = null;
    svg.addEventListener("pointerdown", (event) => {
      dragged = false;
      if (view.zoom > 1 && event.button === 0) from = [event.clientX, event.clientY, view.x, view.y];
    });
    addEventListener("pointermove", (event) => {
      if (!from) return;
      const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
      if (Math.hypot(dx, dy) > 4) dragged = true;
      const unit = MAP_WIDTH / view.zoom / svg.getBoundingClientRect().width;
      [view.x, view.y] = [from[2] - dx * unit, from[3] - dy * unit];
      redraw();
    });
    addEventListener("pointerup", () => { from = null; });
    svg.addEventListener("dragstart", (event) => event.preventDefault());
    svg.addEventListener("click", (event) => {
      if (dragged) event.preventDefault();
      else if (cards !== fitted && of(event)) {
        event.preventDefault();
        const card = groupOf.get(of(event).dataset.id);
        if (card) goTo(card);
      }
    });
  }

  function zoom(by, [x, y]) {
    const next = Math.max(1, Math.min(MOST_ZOOM, by ? view.zoom * by : 1));
    view.x = x - (x - view.x) * view.zoom / next;
    view.y = y - (y - view.y) * view.zoom / next;
    view.zoom = next;
    figure.classList.toggle("zoomed", next > 1);
    byId("zoom-out").disabled = byId("zoom-all").disabled = next === 1;
    redraw();
  }

  function inPicture(event) {
    const box = svg.getBoundingClientRect(), unit = MAP_WIDTH / view.zoom / box.width;
    return [view.x + (event.clientX - box.left) * unit, view.y + (event.clientY - box.top) * unit];
  }

  // ------------------------------------------------------------ pointing and keys
  function setUpPointing() {
    const enter = (event) => of(event) && point(of(event));
    figure.addEventListener("pointerover", enter);
    figure.addEventListener("pointermove", (event) => {
      if (view.zoom >= 2 && texts?.text.length) pointAtText(event);
    });
    figure.addEventListener("focusin", (event) => {
      if (!of(event)) return;
      for (const bubble of bubbles) bubble.setAttribute("tabindex", bubble === of(event) ? "0" : "-1");
      enter(event);
    });
    figure.addEventListener("pointerout", leave);
    figure.addEventListener("focusout", leave);
    figure.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      const button = { "+": "zoom-in", "-": "zoom-out", 0: "zoom-all" }[event.key];
      if (event.key === "Escape") leave();
      if (button && !event.ctrlKey && !event.metaKey) byId(button).click();
      if (!way || !of(event)) return;
      event.preventDefault();
      nearest(of(event), way)?.focus();
    });
  }

  function point(bubble) {
    const card = groupOf.get(bubble.dataset.id) ?? cardOf.get(bubble.dataset.id);
    if (!card) return;
    const box = bubble.getBoundingClientRect();
    showTip(box.left + box.width / 2, box.top, box.bottom, {
      name: card.name,
      facts: `${number.format(card.size)} ${card.size === 1 ? "text" : "texts"} · ${card.share}`,
      words: card.words.slice(0, 8).map(([word]) => word).join(", "),
    });
  }

  function pointAtText(event) {
    const [x, y] = inPicture(event).map((value) => value * PER_UNIT);
    let best = -1, least = (8 * PER_UNIT * MAP_WIDTH / view.zoom / svg.getBoundingClientRect().width) ** 2;
    for (let i = 0; i < texts.x.length; i++) {
      const far = (texts.x[i] - x) ** 2 + (texts.y[i] - y) ** 2;
      if (far < least) [best, least] = [i, far];
    }
    if (best < 0) return;
    showTip(event.clientX, event.clientY - 6, event.clientY + 6, {
      name: groupOf.get(String(texts.cluster[best]))?.name ?? "",
      facts: `row ${texts.row[best]} · ${texts.sure[best]}% sure`,
      words: texts.text[best].slice(0, 240),
    });
  }

  function showTip(middle, top, bottom, says) {
    fill(tip, says);
    tip.hidden = false;
    const frame = figure.getBoundingClientRect();
    const left = middle - frame.left - tip.offsetWidth / 2, above = top - frame.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(0, Math.min(left, frame.width - tip.offsetWidth))}px`;
    tip.style.top = `${above >= 0 ? above : Math.min(bottom - frame.top + 8, frame.height - tip.offsetHeight)}px`;
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
