// Where the ranks of a job stand: one square for each, what each group does, and their stacks as a tree.
import { make, section, words } from "./dom.js";

const MOST_SQUARES = 256;

export function ranks(found) {
  if (!found || !(found.places.length || found.tree.length || found.culprits.length || found.missing.length)) return [];
  const roles = new Map();
  for (const role of ["waiting", "culprit", "missing"]) {
    const own = found[role === "culprit" ? "culprits" : role];
    for (const rank of [...own, ...found.places.filter((one) => one.role === role).map((one) => one.rank)]) roles.set(rank, role);
  }
  return [section("ranks", words.ranks, ...squares(found, roles), ...places(found.places), ...tree(found.tree, roles))];
}

function squares(found, roles) {
  const seen = [...roles.keys(), ...found.places.map((one) => one.rank)].filter((rank) => rank !== null);
  const world = Math.max(found.world_size || 0, ...seen.map((rank) => rank + 1));
  if (!world || world > MOST_SQUARES) return [];
  const strip = make("ol", { class: "strip" });
  for (let rank = 0; rank < world; rank += 1) {
    const role = roles.get(rank) || "";
    strip.append(make("li", { class: role, title: words[role] || "" }, String(rank)));
  }
  const used = ["culprit", "waiting", "missing"].filter((role) => [...roles.values()].includes(role));
  const keys = used.map((role) => make("span", {}, make("span", { class: `square ${role}`, "aria-hidden": "true" }), ` ${words[role]}: ${named(roles, role)}`));
  return [strip, make("p", { class: "roles" }, ...keys)];
}

function named(roles, role) {
  return [...roles].filter(([, own]) => own === role).map(([rank]) => rank).sort((a, b) => a - b).join(", ");
}

function places(found) {
  const groups = new Map();
  for (const one of found) {
    const key = JSON.stringify([one.role, one.state, one.frame, one.op]);
    groups.set(key, [...(groups.get(key) || []), one.rank ?? `pid ${one.pid}`]);
  }
  const rows = [...groups].map(([key, who]) => {
    const [role, state, frame, op] = JSON.parse(key);
    return make("li", { class: role }, make("strong", {}, `rank ${who.join(", ")}`), ` ${state}${op ? ` (${op})` : ""}: `, make("code", {}, frame));
  });
  return rows.length ? [make("ul", { class: "places" }, ...rows)] : [];
}

function tree(found, roles) {
  if (!found.length) return [];
  const wide = Math.max(...found.map((line) => line.ranks.length));
  const lines = found.map((line) => {
    const own = new Set(numbers(line.ranks).map((rank) => roles.get(rank) || ""));
    const role = own.size === 1 ? [...own][0] : "";
    const who = make("span", { class: "n" }, `${line.ranks.padEnd(wide)}  `);
    return make("span", role ? { class: role } : {}, who, `${"│ ".repeat(line.depth)}${line.frame}`);
  });
  return [make("h3", {}, words.stacks), make("pre", { class: "tree", tabindex: "0" }, ...lines)];
}

function numbers(ranges) {
  return ranges.split(",").flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number);
    return Array.from({ length: Math.min(last - first + 1, 1e5) || 0 }, (_, at) => first + at);
  });
}
