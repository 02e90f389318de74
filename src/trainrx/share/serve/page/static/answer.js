// An answer and what belongs to it. The first screen is the one piece of HTML, which the service made of
// escaped Markdown; all else is drawn here of the answer's own document.
import { dialogue } from "./dialogue.js";
import { action, complaint, make, section, sendJson, words } from "./dom.js";
import { evidence } from "./evidence.js";
import { memory } from "./memory.js";
import { ranks } from "./ranks.js";

let shown = 0; // answers so far: a patch that comes late is of none but the last

export function start(place, said, texts) {
  show({ place, texts, turns: [] }, said);
}

function show(job, said) {
  const own = (shown += 1);
  const found = said.answer;
  const screen = make("article", { class: found.verdict });
  screen.innerHTML = said.html;
  for (const block of screen.querySelectorAll("pre")) block.tabIndex = 0;
  const plan = make("div");
  job.place.replaceChildren(
    make("h2", {}, words.answer),
    screen,
    ...ranks(found.ranks),
    plan,
    ...dialogue(found.asks, job.turns, (ask, value) => reply(job, said, ask, value)),
    ...evidence(found, job.texts),
  );
  for (const block of job.place.querySelectorAll(".log")) reveal(block);
  if (!found.plan) return;
  plan.replaceChildren(...memory(found.plan.predicted, []));
  sendJson("/patch", { token: said.token }).then(
    (fixed) => { if (own === shown) plan.replaceChildren(...patch(fixed.diff, fixed.why), ...memory(found.plan.predicted, fixed.terms)); },
    () => {}, // the answer says what to change
  );
}

function reveal(block) {
  const first = block.querySelector(".hit");
  if (first) block.scrollTop = first.offsetTop - block.offsetTop - 40;
}

async function reply(job, said, ask, value) {
  try {
    const next = await sendJson("/reply", { token: said.token, answers: { [ask.id]: value } });
    const [cause] = next.answer.causes;
    const now = cause ? `${cause.title} (${Math.round(100 * cause.probability)} %)` : "";
    job.turns.push({ what: ask.what, value: words[value] || value, now });
    show(job, next);
    job.place.querySelector(".dialogue")?.focus();
  } catch (error) {
    job.place.querySelector(".dialogue").append(complaint(error));
  }
}

function patch(diff, why) {
  if (!diff) return [];
  const lines = diff.trimEnd().split("\n").map((line) => {
    const kind = /^\+(?!\+\+ )/.test(line) ? "add" : /^-(?!-- )/.test(line) ? "cut" : "";
    return make("span", kind ? { class: kind } : {}, line || " ");
  });
  const copy = action(words.copy, async (button) => {
    await navigator.clipboard.writeText(diff);
    button.textContent = words.copied;
  });
  const apply = make("p", { class: "quiet" }, `${words.apply} `, make("code", {}, "patch -p1 < fix.patch"));
  const reasons = make("details", {}, make("summary", {}, words.why), make("pre", { tabindex: "0" }, why));
  return [section("patch", words.patch, make("pre", { class: "diff", tabindex: "0" }, ...lines), copy, apply, reasons)];
}
