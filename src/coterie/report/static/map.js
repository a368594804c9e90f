// The map: bubbles of clusters in SVG, for links, keyboard and paper; below them a canvas with a dot per
// text and the labels. Both show the same part of the picture, so that they zoom together.
const MAP_WIDTH = 960, MAP_HEIGHT = 600, PER_UNIT = 10; // texts are placed in tenths of a unit
const MOST_ZOOM = 40, MOST_GAP = 40, TOUCHING = 4; // units between bubbles that are tied together
const PAD = 3; // pixels around them

function setUpMap() {
  const figure = byId("map-figure"), tip = byId("tip");
  if (!figure) return null;
  const svg = figure.querySelector("svg"), canvas = byId("dots"), view = { x: 0, y: 0, zoom: 1 };
  const of = (event) => event.target.closest?.(".bubble");
  const bubbleOf = new Map(bubbles.map((bubble) => [bubble.dataset.id, bubble]));
  const places = bubbles.map((bubble) => {
    const { cx, cy, r } = bubble.querySelector("circle");
    return [cx.baseVal.value, cy.baseVal.value, r.baseVal.value];
  });
  const around = places.map(() => []);
  let groupOf = new Map(), shapes = [], near = null, dotTone = null, pending = 0, dragged = false;
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
    shapes = findShapes();
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
    drawOutlines(pen, tones, style.getPropertyValue("--sheet").trim(), at, scale);
    if (texts) drawDots(pen, tones, scale, box);
    drawLabels(pen, style, at, scale, box);
  }

  // A group of several bubbles is one shape with an outline; far bubbles are islands of the same colour.
  function drawOutlines(pen, tones, sheet, at, scale) {
    for (const { card, own, bridges } of shapes) {
      for (const [colour, more] of [[tones[card.tone], PAD], [`color-mix(in srgb, ${tones[card.tone]} 16%, ${sheet})`, PAD - 1.6]]) {
        pen.fillStyle = pen.strokeStyle = sheet;
        pen.fillStyle = pen.strokeStyle = colour;
        for (const [x, y, r] of own) {
          pen.beginPath();
          pen.arc(...at(x, y), r * scale + more, 0, 2 * Math.PI);
          pen.fill();
        }
        for (const [one, two, wide] of bridges) {
          pen.lineWidth = wide * scale + 2 * more;
          pen.beginPath();
          pen.moveTo(...at(one[0], one[1]));
          pen.lineTo(...at(two[0], two[1]));
          pen.stroke();
        }
      }
    }
  }

  // The bubbles of each group of this level, and which of them are tied together: the nearest first, each only once.
  function findShapes() {
    if (cards === fitted) return [];
    near ??= findNear();
    const found = new Map(cards.map((card) => [card, { card, own: [], bridges: [] }])), root = places.map((_, i) => i);
    const group = bubbles.map((bubble) => groupOf.get(bubble.dataset.id));
    const top = (i) => { while (root[i] !== i) i = root[i] = root[root[i]]; return i; };
    places.forEach((place, i) => found.get(group[i])?.own.push(place));
    for (const [i, j, gap] of near) {
      if (group[i] !== group[j] || top(i) === top(j)) continue;
      const between = (k) => group[k] !== group[i] && inWay(places[k], places[i], places[j]);
      if (gap > TOUCHING && around[i].some(between)) continue;
      root[top(i)] = top(j);
      found.get(group[i])?.bridges.push([places[i], places[j], 1.2 * Math.min(places[i][2], places[j][2])]);
    }
    return [...found.values()].filter(({ own }) => own.length);
  }

  // All pairs of bubbles that may be tied together, the nearest first; what is between two of them is around each.
  function findNear() {
    const found = [];
    places.forEach(([x, y, r], i) => {
      for (let j = 0; j < i; j++) {
        const gap = Math.hypot(x - places[j][0], y - places[j][1]) - r - places[j][2];
        if (gap > MOST_GAP) continue;
        found.push([i, j, gap]);
        around[i].push(j);
        around[j].push(i);
      }
    });
    return found.sort((a, b) => a[2] - b[2]);
  }

  // Whether the middle of a bubble lies on the line between two others.
  function inWay([x, y, r], one, two) {
    const [dx, dy] = [two[0] - one[0], two[1] - one[1]];
    const along = Math.max(0, Math.min(1, ((x - one[0]) * dx + (y - one[1]) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(one[0] + along * dx - x, one[1] + along * dy - y) < 0.7 * r;
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

  function drawLabels(pen, style, at, scale, box) {
    const family = getComputedStyle(document.body).fontFamily;
    const measure = (text, font) => {
      pen.font = `600 ${font}px ${family}`;
      return pen.measureText(text).width;
    };
    const items = cards.flatMap((card) => {
      const place = placeOf(card);
      if (!place) return [];
      const [x, y] = at(place[0], place[1]);
      return [{ card, x, y, r: place[2] * scale }];
    });
    const placed = placeLabels(items, box, measure);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.strokeStyle = style.getPropertyValue("--sheet");
    pen.fillStyle = style.getPropertyValue("--ink");
    for (const { lines, x, y, font } of placed) {
      pen.font = `600 ${font}px ${family}`;
      lines.forEach((line, i) => {
        const down = y + (i - (lines.length - 1) / 2) * LINE * font;
        pen.strokeText(line, x, down);
        pen.fillText(line, x, down);
      });
    }
    canvas.dataset.labels = JSON.stringify(placed.map(({ id, lines }) => [id, lines.join(" ")]));
  }

  // Where a group's label stands, and its room: its bubble, or its part of the bubble that most of its texts are in.
  function placeOf(card) {
    if (card.place === undefined) {
      const circle = bubbleOf.get(String(card.leaves ? card.home : card.id))?.firstElementChild;
      const own = card.leaves && circle ? card.rows.filter((i) => texts.cluster[i] === card.home) : [];
      const mean = (values) => own.reduce((sum, i) => sum + values[i], 0) / own.length / PER_UNIT;
      card.place = null;
      if (circle && own.length) {
        const share = Math.min(1, own.length / Math.max(rowsOf(cardOf.get(String(card.home))).length, 1));
        card.place = [mean(texts.x), mean(texts.y), circle.r.baseVal.value * Math.sqrt(share)];
      } else if (circle && !card.leaves) {
        card.place = [circle.cx.baseVal.value, circle.cy.baseVal.value, circle.r.baseVal.value];
      }
    }
    return card.place;
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
    for (const other of bubbles) other.classList.toggle("mate", cards !== fitted && groupOf.get(other.dataset.id) === card);
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
    for (const bubble of bubbles) bubble.classList.remove("mate");
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
