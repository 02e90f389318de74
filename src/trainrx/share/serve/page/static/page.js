"use strict";
// Texts of inputs and answers enter the page by textContent alone; the one piece of HTML is the first
// screen, which the service made of escaped Markdown.
const words = JSON.parse(document.body.dataset.words);
const form = document.getElementById("job");
const answer = document.getElementById("answer");
const drop = document.getElementById("drop");
const picker = document.getElementById("files");
const chosen = document.getElementById("chosen");
const MOST_SHOWN = 4000;
const MOST_ASKED = 3;
let files = [];
let texts = {};
let shown = 0; // answers so far: what comes late is of none but the last

document.documentElement.classList.add("scripted");

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function draw(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function take(list) {
  files = files.concat([...list]);
  chosen.replaceChildren(...files.map((file) => make("li", {}, `${file.name} (${file.size})`)));
}

picker.addEventListener("change", () => { take(picker.files); picker.value = ""; });
for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
    if (name === "drop") take(event.dataTransfer.files);
  });
}
document.getElementById("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});

async function send(address, body, headers = {}) {
  const response = await fetch(address, { method: "POST", body, headers: { Accept: "application/json", ...headers } });
  const said = await response.json();
  if (!response.ok) throw new Error(typeof said.detail === "string" ? said.detail : JSON.stringify(said.detail));
  return said;
}

function asked() {
  const body = new FormData(form);
  body.delete("file");
  for (const file of files) body.append("file", file, file.name);
  return body;
}

async function read() {
  texts = {};
  for (const file of files) if (file.size < 2e7) texts[file.name] = await file.text();
  const pasted = document.getElementById("text").value;
  if (pasted.trim()) texts["pasted.txt"] = pasted;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  answer.replaceChildren(make("p", { class: "working" }, words.working));
  try {
    const [said] = await Promise.all([send(form.action, asked()), read()]);
    show(said);
  } catch (error) {
    answer.replaceChildren(make("p", { class: "error", role: "alert" }, `${words.failed} ${error.message}`));
  }
  button.disabled = false;
  answer.focus();
});

function show(said) {
  shown += 1;
  const screen = make("article");
  screen.innerHTML = said.html;
  for (const block of screen.querySelectorAll("pre")) block.tabIndex = 0;
  answer.replaceChildren(make("h2", {}, words.answer), screen);
  memory(said.answer);
  ranks(said.answer.ranks);
  evidence(said.answer);
  questions(said.answer.asks, said.token);
  if (said.answer.plan && files.length) patch();
}

function memory(said) {
  const found = said.plan && said.plan.predicted;
  if (!found || !found.limit_gib) return;
  const most = Math.max(found.before_gib || 0, found.after_gib || 0, found.high_gib || 0, found.limit_gib);
  const rows = [["before", found.before_gib, 1], ["after", found.after_gib, 0]].filter((row) => row[1]);
  const bars = make("div", { class: "bars" });
  for (const [name, gib, hue] of rows) {
    const label = `${words[name]}: ${gib.toFixed(1)} GiB, ${words.card} ${found.limit_gib.toFixed(1)} GiB`;
    const bar = draw("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": label });
    const at = (100 * found.limit_gib) / most;
    bar.append(draw("rect", { class: `h${hue}`, width: (100 * gib) / most, height: 10 }));
    bar.append(draw("line", { class: "mark", x1: at, x2: at, y1: 0, y2: 10, "vector-effect": "non-scaling-stroke" }));
    bars.append(make("span", {}, `${words[name]} ${gib.toFixed(1)} GiB`), bar);
  }
  answer.append(make("h2", {}, words.memory), bars,
    make("p", { class: "quiet" }, `${words.card}: ${found.limit_gib.toFixed(1)} GiB`));
}

function ranks(found) {
  if (!found || !found.tree || !found.tree.length) return;
  const lines = found.tree.map((line) => make("li", {}, `${" ".repeat(line.depth)}${line.frame}  [${line.ranks}]`));
  answer.append(make("h2", {}, words.ranks), make("ul", { class: "tree", tabindex: "0" }, ...lines));
}

function evidence(said) {
  const hits = {};
  const [cause] = said.causes;
  const seen = [...(cause ? cause.reasons.filter((one) => one.holds) : []), ...said.symptoms.slice(0, 1)];
  for (const item of seen) {
    for (const at of item.evidence) if (at.line && texts[at.source]) (hits[at.source] ||= new Set()).add(at.line);
  }
  const names = Object.keys(hits);
  if (names.length) answer.append(make("h2", {}, words.evidence));
  for (const name of names) {
    const block = log(texts[name].split("\n"), hits[name]);
    answer.append(make("h3", {}, name), block);
    const first = block.querySelector(`[data-line="${[...hits[name]][0]}"]`);
    if (first) block.scrollTop = first.offsetTop - block.offsetTop - 40;
  }
}

function log(lines, hits) {
  const near = Math.max(1, Math.min(...hits) - 20);
  const from = lines.length > MOST_SHOWN ? near : 1;
  const shown = lines.slice(from - 1, from - 1 + MOST_SHOWN).map((text, index) => {
    const number = from + index;
    const mark = make("span", { class: "n" }, String(number).padStart(4), " ");
    return make("span", hits.has(number) ? { class: "hit", "data-line": number } : {}, mark, text.slice(0, 2000));
  });
  return make("pre", { class: "log", tabindex: "0" }, ...shown);
}

function questions(asks, token) {
  if (!asks.length) return;
  answer.append(make("h2", {}, words.questions));
  for (const ask of asks.slice(0, MOST_ASKED)) {
    const box = make("div", { class: "ask" }, make("p", {}, ask.what));
    if (ask.how) box.append(make("p", { class: "quiet" }, ask.how));
    if (ask.command) box.append(make("pre", { tabindex: "0" }, ask.command));
    const choices = ask.values && ask.values.length ? ask.values : ask.answer === "yes_no" ? ["yes", "no", "unknown"] : [];
    for (const value of choices) {
      const button = make("button", { type: "button" }, words[value] || value);
      button.addEventListener("click", () => reply(token, ask.id, value));
      box.append(button);
    }
    if (!choices.length) box.append(...field(ask, token));
    answer.append(box);
  }
}

function field(ask, token) {
  const area = make("textarea", { rows: "3", "aria-label": ask.what, spellcheck: "false" });
  const button = make("button", { type: "button" }, words.reply);
  button.addEventListener("click", () => { if (area.value.trim()) reply(token, ask.id, area.value); });
  return [area, button];
}

async function reply(token, id, value) {
  const body = JSON.stringify({ token, answers: { [id]: value } });
  try {
    show(await send("/reply", body, { "Content-Type": "application/json" }));
  } catch (error) {
    answer.prepend(make("p", { class: "error", role: "alert" }, `${words.failed} ${error.message}`));
  }
  answer.focus();
}

async function patch() {
  const of = shown;
  let text;
  try {
    const said = await send("/patch", asked());
    text = said.patch;
  } catch { return; }
  if (!text || of !== shown) return;
  const lines = text.split("\n").map((line) => {
    const kind = /^\+(?!\+\+ )/.test(line) ? "add" : /^-(?!-- )/.test(line) ? "cut" : "";
    return make("span", kind ? { class: kind } : {}, line || " ");
  });
  const button = make("button", { type: "button" }, words.copy);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = words.copied;
  });
  const heading = make("h2", {}, words.patch);
  const block = make("pre", { class: "diff", tabindex: "0" }, ...lines);
  answer.querySelector("article").after(heading, block, button);
}
