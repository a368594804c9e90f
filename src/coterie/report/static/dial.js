// The dial: cuts the tree of the finest clusters at another number, and makes cards of the parts.
const NEARLY_ALL = 0.8; // a group that shares so much with a cluster of the fit has its name
const cuts = new Map(); // number of clusters -> cards

function setUpDial() {
  if (!byId("dial")) return;
  if (!dial) { // there was no room for it
    byId("levels").parentElement.hidden = true;
    return;
  }
  const input = byId("dial"), values = dial.values;
  const turn = (place) => {
    input.value = String(Math.max(0, Math.min(values.length - 1, place)));
    setLevel(values[Number(input.value)]);
  };
  input.value = String(values.indexOf(dial.fitted));
  input.addEventListener("input", () => turn(Number(input.value)));
  byId("fewer").addEventListener("click", () => turn(Number(input.value) - 1));
  byId("finer").addEventListener("click", () => turn(Number(input.value) + 1));
  byId("stops").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) turn(values.indexOf(Number(button.value)));
  });
  byId("dial-form").addEventListener("submit", (event) => event.preventDefault());
  sayLevel(dial.fitted);
}

function sayLevel(n) {
  const agreed = dial.agreement[n];
  const parts = [`${number.format(n)} clusters`];
  if (agreed !== undefined) parts.push(`runs agree to ${Math.round(100 * agreed)}%`);
  parts.push(n === dial.fitted ? "as fitted" : n < dial.fitted ? "joined" : "divided");
  byId("dial-says").textContent = parts.join(" · ");
  byId("dial").setAttribute("aria-valuetext", `${n} clusters`);
  for (const button of byId("stops").children) button.setAttribute("aria-pressed", String(Number(button.value) === n));
}

// The cards of a level, the largest first; those of the fit are in the page already.
function cardsAt(n) {
  if (!dial || n === dial.fitted) return fitted;
  if (!cuts.has(n)) cuts.set(n, cutAt(n));
  return cuts.get(n);
}

function cutAt(n) {
  const leaves = dial.sizes.map((_, leaf) => [leaf]);
  const node = dial.sizes.map((_, leaf) => leaf);
  dial.joins.slice(0, dial.sizes.length - n).forEach(([into, gone], i) => {
    leaves[into] = leaves[into].concat(leaves[gone]);
    leaves[gone] = null;
    node[into] = dial.sizes.length + i;
  });
  const total = dial.sizes.reduce((a, b) => a + b, 0);
  const groupOf = new Array(dial.sizes.length);
  const made = leaves.flatMap((own, leaf) => {
    if (!own) return [];
    const size = own.reduce((sum, one) => sum + dial.sizes[one], 0);
    const [name, words] = dial.nodes[node[leaf]];
    const card = {
      id: `${n}-${leaf}`, name, tone: 0, size, share: percent(size / total), coherence: null, trust: null,
      words, quotes: [], leaves: own, rows: [], times: new Map(), element: null, haystack: null,
    };
    for (const one of own) groupOf[one] = card;
    return size ? [card] : [];
  });
  if (texts) share(made, groupOf);
  return made.sort((a, b) => b.size - a.size);
}

// Give each card its texts, the colour of the cluster that most of them are in, and three typical ones.
function share(made, groupOf) {
  texts.leaf.forEach((leaf, i) => groupOf[leaf]?.rows.push(i));
  const parts = new Map(); // how many groups have their home in a cluster: each gets another colour
  for (const card of made) {
    card.times = new Map();
    for (const i of card.rows) card.times.set(texts.cluster[i], (card.times.get(texts.cluster[i]) ?? 0) + 1);
    let most = 0;
    for (const [cluster, n] of card.times) if (n > most) [card.home, most] = [cluster, n];
    card.tone = ((cardOf.get(String(card.home))?.tone ?? 0) + (parts.get(card.home) ?? 0)) % 6;
    parts.set(card.home, (parts.get(card.home) ?? 0) + 1);
    const home = cardOf.get(String(card.home));
    if (home && most >= NEARLY_ALL * Math.max(card.rows.length, rowsOf(home).length)) card.name = home.name;
    if (!texts.text.length) continue;
    const best = card.rows.slice().sort((a, b) => texts.sure[b] - texts.sure[a] || a - b).slice(0, 3);
    card.quotes = best.map((i) => [texts.row[i], `${texts.sure[i]}%`, [texts.text[i].slice(0, 400)]]);
  }
}

function percent(share) {
  const value = 100 * share;
  return value > 0 && value < 0.1 ? "<0.1%" : value > 0 && value < 9.95 ? `${value.toFixed(1)}%` : `${value.toFixed(0)}%`;
}
