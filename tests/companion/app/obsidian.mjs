// The app with the built companion in it: reads its set-up from the first line of stdin, says where it listens, and then
// answers a line for each line it is told, until stdin ends.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import * as api from "./api.mjs";
import { made } from "./plugins.mjs";
import { ID, LOADED, RestApi } from "./rest.mjs";
import { Vault } from "./vault.mjs";
import { Workspace } from "./workspace.mjs";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const config = JSON.parse((await lines.next()).value);
const events = [];
const log = (what, detail) => events.push([what, detail]);
for (const level of ["log", "info", "warn", "error"]) {
  console[level] = (...said) => log(`console.${level}`, said.map(String).join(" "));
}

const app = { plugins: { plugins: {}, manifests: {} }, commands: commandsOf(config.commands ?? []) };
app.vault = new Vault(config.vault, config.name ?? "Notes", config.desktop ?? true);
app.workspace = new Workspace(app.vault);
Object.assign(app.plugins.plugins, made(app, config.plugins ?? {}, log));
for (const name of config.without ?? []) delete app[name];

const rest = new RestApi(app, config.key, config.offers ?? "public");
if (!config.late) app.plugins.plugins[ID] = rest;
let companion = null;
if (config.companion ?? true) companion = enable();
const port = await rest.listen(config.tls);
say({ port });

const acts = {
  /** Enable the Local REST API, or say again that it is ready. */
  async enable_rest_api() {
    app.plugins.plugins[ID] = rest;
    app.workspace.trigger(LOADED);
  },
  async enable_companion() {
    companion = enable();
  },
  async disable_companion() {
    companion.unload();
    delete app.plugins.plugins[companion.manifest.id];
  },
  /** Have another version of the Local REST API let plugins in. */
  async offer({ offers }) {
    rest.offer(offers);
  },
  /** From now on what other programs make is noticed. */
  async watch() {
    app.vault.watching = true;
    app.vault.notice();
  },
  async shows({ path, text }) {
    await app.workspace.shows(path, text);
  },
  async open({ path, tab }) {
    await app.workspace.getLeaf(tab ? "tab" : false).openFile(app.vault.getAbstractFileByPath(path));
  },
  async type({ path, text, flag }) {
    app.workspace.view(path).type(text, flag);
  },
  async state() {
    const since = { asked: rest.asked.splice(0), events: events.splice(0), notices: api.notices.splice(0) };
    return { ...since, panes: app.workspace.panes, listening: app.workspace.listening + app.vault.listening };
  },
};

for await (const line of lines) {
  const { act, ...given } = JSON.parse(line);
  try {
    say({ done: (await acts[act](given)) ?? null });
  } catch (error) {
    say({ failed: String(error.stack ?? error) });
  }
}
process.exit(0);

/** Load main.js as the app does: as a function of module, exports and require. */
function enable() {
  const module = { exports: {} };
  const required = (name) => {
    if (name === "obsidian") return api;
    throw new Error(`a plugin must not need ${name}`);
  };
  new Function("module", "exports", "require", readFileSync(config.main, "utf8"))(module, module.exports, required);
  const manifest = JSON.parse(readFileSync(config.manifest, "utf8"));
  const plugin = new module.exports.default(app, manifest);
  if (app.plugins) app.plugins.plugins[manifest.id] = plugin;
  plugin.load();
  return plugin;
}

function commandsOf(given) {
  const usable = (command) => command.usable ?? true;
  const find = (id) => given.find((command) => command.id === id);
  return {
    listCommands: () => given.filter(usable),
    findCommand: find,
    executeCommandById(id) {
      const found = find(id);
      if (!found || !usable(found)) return false;
      if (found.throws) throw new Error(found.throws);
      log("command", id);
      return true;
    },
  };
}
