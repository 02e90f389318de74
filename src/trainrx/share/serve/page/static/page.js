import { start } from "./answer.js";
import { complaint, make, send, words } from "./dom.js";
import { add, addDropped, files, texts } from "./intake.js";

const form = document.getElementById("job");
const answer = document.getElementById("answer");
const drop = document.getElementById("drop");
const picker = document.getElementById("files");
const text = document.getElementById("text");
let asked = 0; // an answer that comes after a newer question is not shown

document.documentElement.classList.add("scripted");

async function ask() {
  const own = (asked += 1);
  const body = new FormData(form);
  body.delete("file");
  for (const [name, file] of files) body.append("file", file, name);
  answer.replaceChildren(make("p", { class: "working", role: "status" }, words.working));
  try {
    const [said, read] = await Promise.all([send(form.action, body), texts(text.value)]);
    if (own === asked) start(answer, said, read);
  } catch (error) {
    if (own === asked) answer.replaceChildren(complaint(error));
  }
  if (own === asked) answer.focus();
}

form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
picker.addEventListener("change", () => {
  add([...picker.files].map((file) => [file.name, file]));
  picker.value = "";
  ask();
});
for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
  });
}
document.addEventListener("drop", async (event) => {
  const text = event.dataTransfer.getData("text/plain");
  if (!event.dataTransfer.items.length || (text && !event.dataTransfer.files.length)) return;
  await addDropped(event.dataTransfer);
  ask();
});
document.addEventListener("paste", (event) => {
  const pasted = [...event.clipboardData.files];
  if (!pasted.length) return;
  event.preventDefault();
  add(pasted.map((file) => [file.name, file]));
  ask();
});
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
