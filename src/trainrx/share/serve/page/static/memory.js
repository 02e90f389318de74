// Memory per GPU as stacked bars, before and after, against what the card has.
import { draw, make, section, words } from "./dom.js";

const MOST_NAMED = 6;
const LEAST_SHARE = 0.01; // of the card: what is less goes into one
const GREY = { cached: "grey0", context: "grey1" };

export function memory(found, terms) {
  if (!found || !found.limit_gib) return [];
  const most = 1.04 * Math.max(found.before_gib, found.after_gib, found.high_gib, found.limit_gib);
  const stacks = gathered(terms, found.limit_gib);
  const bars = make("div", { class: "bars" });
  for (const when of ["before", "after"]) {
    const gib = found[`${when}_gib`];
    const parts = stacks.length ? stacks.map((one) => [one, one[when]]) : [[{ hue: when === "before" ? "h1" : "h0", label: words[when] }, gib]];
    bars.append(label(when, gib, found), bar(parts, found.limit_gib, most, `${words[when]} ${gib.toFixed(1)} GiB`));
  }
  const line = make("p", { class: "quiet" }, make("span", { class: "limit", "aria-hidden": "true" }), ` ${words.card} ${found.limit_gib.toFixed(1)} GiB`);
  return [section("memory", words.memory, bars, line, ...table(stacks))];
}

function label(when, gib, found) {
  const left = found.limit_gib - gib;
  const text = left < 0 ? `${words.over} ${(-left).toFixed(1)}` : `${words.free} ${left.toFixed(1)}`;
  const range = when === "after" ? ` (${found.low_gib.toFixed(0)}–${found.high_gib.toFixed(0)})` : "";
  const size = make("strong", {}, `${words[when]} ${gib.toFixed(1)} GiB`);
  return make("span", {}, size, range, make("br"), make("span", { class: left < 0 ? "over" : "quiet" }, `${text} GiB`));
}

function gathered(terms, limit) {
  const large = terms.filter((one) => GREY[one.name] || Math.max(one.before, one.after) >= LEAST_SHARE * limit);
  const named = large.filter((one) => !GREY[one.name]).slice(0, MOST_NAMED);
  const stacks = named.map((one, place) => ({ ...one, hue: `h${place}` }));
  const rest = terms.filter((one) => !GREY[one.name] && !named.includes(one));
  const sum = (when) => rest.reduce((all, one) => all + one[when], 0);
  if (rest.length) stacks.push({ label: words.others, before: sum("before"), after: sum("after"), hue: "other" });
  return [...stacks, ...large.filter((one) => GREY[one.name]).map((one) => ({ ...one, hue: GREY[one.name] }))];
}

function bar(parts, limit, most, label) {
  const made = draw("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": label });
  let at = 0;
  for (const [one, gib] of parts) {
    const width = (100 * gib) / most;
    made.append(draw("rect", { class: one.hue, x: at, width, height: 10 }, draw("title", {}, `${one.label} ${gib.toFixed(1)} GiB`)));
    at += width;
  }
  const mark = (100 * limit) / most;
  made.append(draw("line", { class: "mark", x1: mark, x2: mark, y1: 0, y2: 10, "vector-effect": "non-scaling-stroke" }));
  return made;
}

function table(stacks) {
  if (!stacks.length) return [];
  const head = ["", words.before, words.after].map((text) => make("th", { scope: "col" }, text));
  const rows = stacks.map((one) => {
    const swatch = draw("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, draw("rect", { class: one.hue, width: 10, height: 10 }));
    const sizes = ["before", "after"].map((when) => make("td", {}, one[when].toFixed(1)));
    if (Math.abs(one.before - one.after) > 0.5) sizes[1].className = "changed";
    return make("tr", {}, make("th", { scope: "row" }, swatch, one.label), ...sizes);
  });
  return [make("table", { class: "keys" }, make("caption", {}, "GiB"), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows))];
}
