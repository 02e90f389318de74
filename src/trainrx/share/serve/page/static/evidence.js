// The lines an answer rests on, in the files they stand in, each with what it shows.
import { make, section, words } from "./dom.js";

const MOST_SHOWN = 2000; // lines: of a longer file what stands around the evidence
const AROUND = 20;
const LONGEST = 2000;

export function evidence(found, texts) {
  const files = cited(found);
  const blocks = [...files].map(([source, hits]) => {
    const text = texts.get(source);
    return [make("h3", {}, source), text === undefined ? quoted(hits) : log(text.replace(/\n$/, "").split("\n"), hits)];
  });
  return blocks.length ? [section("evidence", words.evidence, ...blocks.flat())] : [];
}

function cited(found) {
  const files = new Map();
  const [cause] = found.causes;
  const reasons = cause ? cause.reasons.filter((one) => one.holds).map((one) => [one.text, one.evidence]) : [];
  const places = found.ranks ? found.ranks.places.filter((one) => one.role).map((one) => [`rank ${one.rank}: ${one.state}`, one.evidence]) : [];
  for (const [why, lines] of [...reasons, ...places, ...found.symptoms.slice(0, 1).map((one) => [one.title, one.evidence])]) {
    for (const { source, line, text } of lines) {
      if (!line) continue;
      const hits = files.get(source) || files.set(source, new Map()).get(source);
      const hit = hits.get(line) || hits.set(line, { text, why: new Set() }).get(line);
      hit.why.add(why);
    }
  }
  return files;
}

function row(number, text, hit) {
  const mark = make("span", { class: "n" }, `${String(number).padStart(5)} `);
  const line = make("span", hit ? { class: "hit" } : {}, mark, text.slice(0, LONGEST));
  const notes = hit ? [...hit.why].map((why) => make("span", { class: "note" }, `↑ ${why}`)) : [];
  return [line, ...notes];
}

function quoted(hits) {
  const lines = [...hits].sort(([a], [b]) => a - b).flatMap(([number, hit]) => row(number, hit.text, hit));
  return make("pre", { class: "log", tabindex: "0" }, ...lines);
}

function log(lines, hits) {
  const numbers = [...hits.keys()];
  const near = (number) => lines.length <= MOST_SHOWN || numbers.some((one) => Math.abs(one - number) <= AROUND);
  const shown = [];
  let skipped = 0;
  lines.forEach((text, index) => {
    if (!near(index + 1)) { skipped += 1; return; }
    if (skipped) shown.push(make("span", { class: "gap" }, `… ${skipped} ${words.lines}`));
    skipped = 0;
    shown.push(...row(index + 1, text, hits.get(index + 1)));
  });
  if (skipped) shown.push(make("span", { class: "gap" }, `… ${skipped} ${words.lines}`));
  return make("pre", { class: "log", tabindex: "0" }, ...shown);
}
