// All texts of a card: a reader with pages, search, copy and download. Built when it is opened.
const READER_STEP = 25;
const rowsByCluster = new Map();
const folded = []; // texts in lower case without accents, made on first use

function setUpTexts() {
  if (!texts && byId("about-texts")) byId("about-texts").textContent = "There was no room for the texts in this page.";
  if (!texts || !texts.text.length) return;
  if (texts.chars) byId("about-texts").textContent += ` Texts are cut at ${number.format(texts.chars)} characters.`;
  // prepare some cards at a time, so that the first search need not prepare all of them
  let at = 0;
  const some = () => {
    for (const end = Math.min(at + 20, fitted.length); at < end; at++) haystackOf(fitted[at]);
    if (at < fitted.length) setTimeout(some, 5);
  };
  setTimeout(some, 200);
}

function haystackOf(card) {
  card.haystack ??= [fold(textOf(card)), ...(texts?.text.length ? rowsOf(card).map(foldedText) : [])].join("\n");
  return card.haystack;
}

// A text and its columns, as search sees them.
function foldedText(i) {
  return (folded[i] ??= fold([texts.text[i], ...texts.columns.map(([, values]) => values[i])].join("\n")));
}

// The places of a card's texts; cards of another level have them from the start.
function rowsOf(card) {
  if (!texts || card.rows) return card.rows ?? [];
  if (!rowsByCluster.size) {
    texts.cluster.forEach((cluster, i) => {
      if (!rowsByCluster.has(cluster)) rowsByCluster.set(cluster, []);
      rowsByCluster.get(cluster).push(i);
    });
  }
  card.rows = rowsByCluster.get(card.id) ?? [];
  return card.rows;
}

function attachReader(card) {
  if (card.hasReader || !texts || !texts.text.length) return;
  card.hasReader = true;
  const rows = rowsOf(card);
  if (!rows.length) return;
  const all = rows.length === card.size ? `All ${number.format(rows.length)}` : `${number.format(rows.length)} of ${number.format(card.size)}`;
  const button = make("button", { type: "button", "aria-expanded": "false" }, `${all} ${card.size === 1 ? "text" : "texts"}`);
  const holder = make("div", { class: "browse" });
  holder.append(button);
  card.element.append(holder);
  let reader = null;
  button.addEventListener("click", () => {
    reader ??= holder.appendChild(makeReader(card, rows));
    const open = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(open));
    reader.hidden = !open;
    if (open) reader.querySelector("input").focus();
  });
}

function makeReader(card, rows) {
  const reader = make("div", { class: "reader" });
  const input = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const label = make("label", { class: "search" });
  label.append(make("span", {}, "Search"), input);
  const [copy, save, back, next] = ["Copy", "Download", "Previous", "Next"].map((says) => make("button", { type: "button" }, says));
  const status = make("p", { role: "status", class: "says" });
  const list = make("ol", { class: "lines" });
  const tools = make("div", { class: "reader-tools" }), pager = make("p", { class: "pager" });
  tools.append(label, copy, save);
  pager.append(back, status, next);
  reader.append(tools, list, pager);
  let found = rows, start = 0;

  const show = () => {
    const end = Math.min(start + READER_STEP, found.length);
    list.setAttribute("start", String(start + 1));
    list.replaceChildren(...found.slice(start, end).map(line));
    status.textContent = found.length ? `${number.format(start + 1)} to ${number.format(end)} of ${number.format(found.length)}` : "No matching texts.";
    back.disabled = start === 0;
    next.disabled = end >= found.length;
    copy.disabled = save.disabled = !found.length;
  };
  input.addEventListener("input", () => {
    const wanted = fold(input.value).split(/\s+/).filter(Boolean);
    found = rows.filter((i) => wanted.every((word) => foldedText(i).includes(word)));
    start = 0;
    show();
  });
  back.addEventListener("click", () => { start = Math.max(0, start - READER_STEP); show(); });
  next.addEventListener("click", () => { start += READER_STEP; show(); });
  copy.addEventListener("click", async () => {
    const said = (await copied(tabbed(found))) ? "Copied" : "Not allowed";
    copy.textContent = said;
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  });
  save.addEventListener("click", () => download(`cluster-${card.id}.csv`, csvOf(found)));
  show();
  return reader;
}

function line(i) {
  const item = make("li", {});
  const text = make("bdi", { class: "text", lang: "" }, texts.text[i]);
  const source = make("span", { class: "source" }, `row ${texts.row[i]} · ${texts.sure[i]}% sure`);
  item.append(text, " ", source);
  for (const [name, values] of texts.columns) {
    if (!values[i]) continue;
    const cell = make("span", { class: "cell" });
    cell.append(make("bdi", { class: "column", lang: "" }, name), " ", make("bdi", { lang: "" }, values[i]));
    source.append(cell);
  }
  return item;
}

const HEAD = () => [texts.id, "text", "probability", ...texts.columns.map(([name]) => name)];
const cellsOf = (i) => [texts.row[i], texts.text[i], texts.sure[i] / 100, ...texts.columns.map(([, values]) => values[i])];

// For the clipboard: the texts, or, with columns, a table that can be pasted into a spreadsheet.
function tabbed(rows) {
  if (!texts.columns.length) return rows.map((i) => texts.text[i]).join("\n");
  return [HEAD(), ...rows.map(cellsOf)].map((cells) => cells.map(harmless).join("\t")).join("\n");
}

function csvOf(rows) {
  const quoted = (cell) => `"${harmless(cell).replaceAll('"', '""')}"`;
  const lines = [HEAD(), ...rows.map(cellsOf)].map((cells) => cells.map(quoted).join(","));
  return `\ufeff${lines.join("\r\n")}\r\n`; // the mark is for Excel
}

// As in the tables that coterie writes: no text becomes a formula.
function harmless(cell) {
  return typeof cell === "string" && /^[=+\-@＝＋－＠]/.test(cell) ? `'${cell}` : String(cell);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", {});
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function download(name, content) {
  const address = URL.createObjectURL(new Blob([content], { type: "text/csv;charset=utf-8" }));
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function make(tag, attributes, text) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
