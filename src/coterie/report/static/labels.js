// Labels on the map. Every group whose bubble has room for a few letters keeps that room for its own name, and so do
// the largest ones in any case, so that no label of another group can take it.
const LINE = 1.18; // in font sizes
const WIDE = { base: 11, more: 4, least: 19, free: 30 }; // font sizes; pixels of a bubble with room; labels of others
const NARROW = { base: 9.5, more: 2.5, least: 12, free: 6 };
const ALWAYS = 8, MOST_TRIED = 200; // the largest groups

// items: { card, x, y, r } in pixels, the largest first. Returns { id, lines, x, y, font }; measure(text, font) is in pixels.
function placeLabels(items, box, measure) {
  const how = box.width < 600 ? NARROW : WIDE, most = items[0]?.card.size ?? 1, taken = [], placed = [];
  const kept = items.map(({ x, y, r }, i) => {
    const half = i < ALWAYS ? Math.max(0.75 * r, 2 * how.base) : 0.75 * r;
    return i < ALWAYS || r >= how.least ? [x - half, y - 7, x + half, y + 7] : null;
  });
  const round = items.filter(({ r }) => r >= 8), waiting = kept.flatMap((own, j) => (own ? [[j, own]] : []));
  const hits = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  let free = 0;
  items.forEach((item, i) => {
    if (item.x < 0 || item.y < 0 || item.x > box.width || item.y > box.height) return;
    if (!kept[i] && (free >= how.free || i >= MOST_TRIED)) return;
    const font = how.base + how.more * Math.sqrt(item.card.size / most);
    const covers = ([left, top, right, bottom]) => round.some((other) => other !== item
      && Math.hypot(other.x - Math.max(left, Math.min(other.x, right)), other.y - Math.max(top, Math.min(other.y, bottom))) < other.r - 3);
    const room = kept[i] ? kept[i][2] - kept[i][0] - 6 : 0;
    for (const [lines, where, size] of tries(item, font, how.base, room, measure)) {
      const half = Math.max(...lines.map((line) => measure(line, size))) / 2 + 3, high = (lines.length * LINE * size) / 2;
      const x = Math.max(half, Math.min(item.x, box.width - half)), y = item.y + where * (item.r + high + 1);
      const own = [x - half, y - high, x + half, y + high];
      if (own[1] < 0 || own[3] > box.height || taken.some((b) => hits(own, b)) || waiting.some(([j, b]) => j > i && hits(own, b))) continue;
      if (!kept[i] && covers(own)) continue; // a dot's name stands beside the bubbles, never on another one
      taken.push(own);
      placed.push({ id: item.card.id, lines, x, y, font: size });
      free += !kept[i];
      return;
    }
  });
  return placed;
}

// Ways to write a name: in one line or several, in the bubble (0), below (1) or above it (-1); at last cut to its room.
function* tries({ card, r }, font, base, room, measure) {
  const parts = card.name.split(" · ").map((part) => shortened(part, 26));
  const whole = parts.length > 1 ? [parts.slice(0, 3), parts.slice(0, 2), parts.slice(0, 1)] : [[parts[0]], halves(parts[0])];
  if (parts.length === 1 && measure(parts[0], font) > 1.9 * r) whole.reverse();
  for (const lines of whole) yield [lines, 0, font];
  yield [halves(parts[0]), 0, base - 0.5];
  for (const where of [1, -1]) yield [[parts[0]], where, Math.min(font, base + 1)];
  if (!room) return;
  let says = parts[0];
  while (says.length > 5 && measure(says, base - 1) > room) says = shortened(says, says.length - 1);
  yield [[says], 0, base - 1];
}

// A name in two lines of about the same length.
function halves(name) {
  const words = name.split(" ");
  if (words.length < 2) return words;
  let best = 1, least = Infinity;
  for (let i = 1; i < words.length; i++) {
    const longer = Math.max(words.slice(0, i).join(" ").length, words.slice(i).join(" ").length);
    if (longer < least) [best, least] = [i, longer];
  }
  return [words.slice(0, best).join(" "), words.slice(best).join(" ")];
}

function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`;
}
