// What all parts of the page are made with. Texts of inputs and answers enter by textContent alone.
export const words = JSON.parse(document.body.dataset.words);

export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function section(name, title, ...children) {
  return make("section", { class: name }, make("h2", {}, title), ...children);
}

// Words with `code` between backticks.
export function coded(text) {
  return text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));
}

export function action(label, run) {
  const button = make("button", { type: "button" }, label);
  button.addEventListener("click", () => run(button));
  return button;
}

export function complaint(error) {
  return make("p", { class: "error", role: "alert" }, `${words.failed} ${error.message}`);
}

export async function send(address, body, headers = {}) {
  const response = await fetch(address, { method: "POST", body, headers: { Accept: "application/json", ...headers } });
  const said = await response.json();
  if (!response.ok) throw new Error(typeof said.detail === "string" ? said.detail : JSON.stringify(said.detail));
  return said;
}

export function sendJson(address, body) {
  return send(address, JSON.stringify(body), { "Content-Type": "application/json" });
}
