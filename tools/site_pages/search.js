// node search.js SITE: ask the search of a built site as its pages do, for what people look for who have
// a failure and no name for it (sought.json); 1 where the page for them is not among the first hits.
const fs = require("fs"), path = require("path"), vm = require("vm");

const FIRST = 3;
const read = (...names) => fs.readFileSync(path.resolve(...names), "utf8");

async function searchOf(site) {
  const scripts = path.join(site, "assets", "javascripts", "workers");
  const worker = fs.readdirSync(scripts).find(name => /^search\..*\.min\.js$/.test(name));
  const listeners = [], answers = [];
  const load = name => vm.runInContext(read(scripts, name), self);
  // what a worker of a browser has, as far as this one needs it
  const self = vm.createContext({
    addEventListener: (_, listener) => listeners.push(listener),
    postMessage: message => answers.push(message),
    importScripts: (...names) => names.forEach(load),
    console, Intl, URL, TextEncoder, setTimeout,
  });
  vm.runInContext("self = globalThis", self);
  load(worker);
  const ask = async message => {
    for (const listener of listeners) await listener({ data: message });
    return answers.at(-1).data;
  };
  const { config, docs } = JSON.parse(read(site, "search", "search_index.json"));
  await ask({ type: 0, data: { config, docs, options: { suggest: true } } });
  return async query => (await ask({ type: 2, data: query })).items
    .map(sections => sections[0].location.split("#")[0]);
}

(async () => {
  const sought = JSON.parse(read(__dirname, "sought.json"));
  for (const [lang, pages] of Object.entries(sought)) {
    const search = await searchOf(path.join(process.argv[2], lang));
    for (const [query, wanted] of Object.entries(pages)) {
      const hits = (await search(query)).slice(0, FIRST);
      if (hits.includes(wanted)) continue;
      console.log(`${lang}: ${query} finds ${hits.join(", ")} first, not ${wanted}`);
      process.exitCode = 1;
    }
  }
})();
