// Files that were dropped, chosen or pasted, under the names by which the answer cites them.
import { action, make, words } from "./dom.js";

const SHOWN_BYTES = 2e7; // of a file: in longer ones the answer's own quotations must do
const LONGEST_NAME = 50;
const room = Number(document.body.dataset.largest);
const chosen = document.getElementById("chosen");
export const files = new Map();
const leftOut = new Set();

// The service writes files down under such names.
function nameOf(path) {
  const plain = path.replaceAll("/", "_").replace(/[^\p{L}\p{N}_.+-]/gu, "_").replace(/^[.-]+/, "");
  return plain.slice(-LONGEST_NAME) || "input";
}

export function add(found) {
  for (const [path, file] of found) {
    const name = nameOf(path);
    const others = [...files].reduce((sum, [key, one]) => sum + (key === name ? 0 : one.size), 0);
    if (others + file.size > 0.9 * room) leftOut.add(name);
    else { files.set(name, file); leftOut.delete(name); }
  }
  list();
}

export async function addDropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const plain = [...transfer.files].map((file) => [file.name, file]);
  add(entries.length ? (await Promise.all(entries.map((entry) => within(entry, "")))).flat() : plain);
}

async function within(entry, folder) {
  const path = folder + entry.name;
  if (entry.isFile) return [[path, await new Promise((take, fail) => entry.file(take, fail))]];
  const reader = entry.createReader();
  const inside = [];
  for (;;) {
    const some = await new Promise((take, fail) => reader.readEntries(take, fail));
    if (!some.length) break;
    inside.push(...some);
  }
  return (await Promise.all(inside.map((one) => within(one, `${path}/`)))).flat();
}

function list() {
  const rows = [...files].map(([name, file]) => {
    const remove = action("×", () => { files.delete(name); list(); });
    remove.setAttribute("aria-label", `${words.remove} ${name}`);
    return make("li", {}, `${name} `, make("span", { class: "quiet" }, size(file.size)), " ", remove);
  });
  rows.push(...[...leftOut].map((name) => make("li", { class: "error" }, `${name}: ${words.too_large}`)));
  chosen.replaceChildren(...rows);
}

function size(bytes) {
  return bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export async function texts(pasted) {
  const found = new Map();
  for (const [name, file] of files) if (file.size < SHOWN_BYTES) found.set(name, await file.text());
  if (pasted.trim()) found.set("pasted.txt", pasted);
  return found;
}
