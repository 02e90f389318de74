// The consultation: what was asked and replied so far, and the question that tells most now.
import { action, coded, make, section, words } from "./dom.js";

const MOST_ASKED = 4;

export function dialogue(asks, turns, reply) {
  if (!asks.length && !turns.length) return [];
  const past = turns.flatMap(({ what, value, now }) => [
    make("li", { class: "asked" }, what),
    make("li", { class: "replied" }, value.length > 300 ? `${value.slice(0, 300)} …` : value),
    ...(now ? [make("li", { class: "asked now" }, `${words.now} ${now}`)] : []),
  ]);
  const [first, ...others] = asks.slice(0, MOST_ASKED);
  const children = past.length ? [make("ol", { class: "turns" }, ...past)] : [];
  if (first) children.push(question(first, reply));
  if (others.length) {
    const more = others.map((ask) => question(ask, reply));
    children.push(make("details", {}, make("summary", {}, `${words.other_questions} (${others.length})`), ...more));
  }
  const made = section("dialogue", words.questions, ...children);
  made.tabIndex = -1;
  return [made];
}

function question(ask, reply) {
  const box = make("div", { class: "ask" }, make("p", { class: "what" }, ask.what));
  // how the command line takes the answer is of no use here
  if (ask.how && !ask.how.startsWith("diagnose ")) box.append(make("p", { class: "quiet" }, ...coded(ask.how)));
  if (ask.command) box.append(make("pre", { tabindex: "0" }, ask.command));
  if (ask.reading && ask.reading.length) box.append(make("ul", { class: "quiet" }, ...ask.reading.map((line) => make("li", {}, ...coded(line)))));
  const yesNo = ask.answer === "yes_no" ? ["yes", "no", "unknown"] : [];
  const choices = ask.values && ask.values.length ? ask.values : yesNo;
  for (const value of choices) box.append(action(words[value] || value, () => reply(ask, value)));
  if (!choices.length) box.append(...field(ask, reply));
  return box;
}

function field(ask, reply) {
  const area = make("textarea", { rows: "3", "aria-label": ask.what, spellcheck: "false", placeholder: ask.answer === "value" ? "" : words.paste_here });
  const send = () => { if (area.value.trim()) reply(ask, area.value); };
  area.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(); });
  return [area, action(words.reply, send)];
}
