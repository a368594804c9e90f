// Cards over time: a small chart of a group's share of the texts of each period, and what became of it in words.
const STATES = ["new", "growing", "steady", "shrinking", "gone"];

// The texts of a card in each period; cards of another level add up their finest clusters.
function countsOf(card) {
  if (!card.leaves) return trend.counts[card.id];
  const counts = new Array(trend.parts.length).fill(0);
  for (const leaf of card.leaves) {
    const pairs = trend.leaves[leaf];
    for (let i = 0; i < pairs.length; i += 2) counts[pairs[i]] += pairs[i + 1];
  }
  return counts;
}

function stateOf(card) {
  if (!trend) return "";
  return (card.leaves ? trend.nodes[card.node] : trend.states[card.id]) ?? "";
}

function showTrend(card, element) {
  const holder = slot(element, "trend"), state = stateOf(card);
  holder.hidden = !state;
  if (!state) return;
  const counts = countsOf(card), cut = trend.recent, sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const within = (...part) => percent(sum(counts.slice(...part)) / Math.max(sum(trend.totals.slice(...part)), 1));
  holder.dataset.state = state;
  holder.querySelector("path").setAttribute("d", barsOf(counts.map((n, i) => n / Math.max(trend.totals[i], 1))));
  slot(holder, "trended").textContent = `${state}: ${within(0, cut)} of the texts`
    + (cut < counts.length ? ` before ${trend.parts[cut]}, ${within(cut)} since then` : "");
}

function barsOf(share) {
  const most = Math.max(...share, 1e-12), step = 240 / share.length, gap = step > 6 ? 2 : 0;
  const short = (value) => String(Math.round(10 * value) / 10);
  return share.map((value, i) => (value > 0
    ? `M${short(i * step)} 56V${short(56 * (1 - value / most))}H${short((i + 1) * step - gap)}V56Z` : "")).join("");
}

function percent(share) {
  const value = 100 * Math.max(0, Math.min(1, share));
  if (value > 0 && value < 0.1) return "<0.1%";
  if (value > 99.9 && value < 100) return ">99.9%";
  return (value > 0 && value < 9.95) || (value > 99 && value < 100) ? `${value.toFixed(1)}%` : `${value.toFixed(0)}%`;
}
