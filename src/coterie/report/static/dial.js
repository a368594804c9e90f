// The dial: cuts the tree of the finest clusters at another number, and makes cards of the parts.
const NEARLY_ALL = 0.8; // a group that shares so much with a cluster of the fit has its name
const MOST_COLOURED = 300; // groups; of more, each has the colour of the cluster that most of its texts are in
const cuts = new Map(); // number of clusters -> cards

function setUpDial() {
  if (!byId("dial")) return;
  if (!dial) {
    byId("dial-form").replaceWith(make("p", { class: "none" }, "There was no room for the levels in this page. Use groups.at(n)."));
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
    for (const leaf of leaves[gone]) leaves[into].push(leaf);
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
      id: `${n}-${leaf}`, node: node[leaf], name, tone: 0, size, share: percent(size / total), coherence: null, trust: null,
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
    card.middle = ["x", "y"].map((axis) => card.rows.reduce((sum, i) => sum + texts[axis][i], 0) / Math.max(card.rows.length, 1));
    const home = cardOf.get(String(card.home));
    if (home && most >= NEARLY_ALL * Math.max(card.rows.length, rowsOf(home).length)) card.name = home.name;
    if (!texts.text.length) continue;
    card.quotes = surest(card.rows, 3).map((i) => [texts.row[i], `${texts.sure[i]}%`, [texts.text[i].slice(0, 400)]]);
  }
  if (made.length <= MOST_COLOURED) colour(made);
}

function surest(rows, n) {
  const best = [];
  for (const i of rows) {
    if (best.length === n && texts.sure[i] <= texts.sure[best[n - 1]]) continue;
    let at = best.length;
    while (at && texts.sure[best[at - 1]] < texts.sure[i]) at--;
    best.splice(at, 0, i);
    best.length = Math.min(best.length, n);
  }
  return best;
}

// Another colour for each group than for those around it, so that their outlines can be told apart.
function colour(made) {
  const done = [];
  for (const card of made.slice().sort((a, b) => b.size - a.size)) {
    const alike = [0, 0, 0, 0, 0, 0];
    for (const other of done) {
      const far = (card.middle[0] - other.middle[0]) ** 2 + (card.middle[1] - other.middle[1]) ** 2;
      alike[other.tone] += other.size / (far + 1e4);
    }
    const least = Math.min(...alike);
    if (alike[card.tone] > least) card.tone = alike.indexOf(least);
    done.push(card);
  }
}
