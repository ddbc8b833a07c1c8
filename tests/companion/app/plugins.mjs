// Other plugins, each as far as the companion asks it: `{id: options}` makes those that are running.
import { revived } from "./values.mjs";

const MAKERS = {
  dataview,
  "obsidian-tasks-plugin": () => ({}),
  "templater-obsidian": templater,
  quickadd,
  "text-extractor": textExtractor,
  "obsidian-excalidraw-plugin": excalidraw,
  "make-md": makemd,
};

export function made(app, given, log) {
  const found = {};
  for (const [id, options] of Object.entries(given)) {
    const { version = "1.0.0", without = [], ...rest } = options;
    found[id] = (MAKERS[id] ?? (() => ({})))(app, rest, log);
    found[id].manifest = { id, name: id, version };
    for (const name of without) remove(found[id], name.split("."));
  }
  return found;
}

/** A version of a plugin that lacks something. */
function remove(from, [name, ...rest]) {
  if (rest.length > 0) remove(from[name], rest);
  else delete from[name];
}

/** Answers to queries and expressions as they were recorded: a result, or {"$error": text}. */
function dataview(app, { queries = {}, expressions = {}, pages = {} }, log) {
  const outcome = (recorded, what) => {
    if (recorded === undefined) return { successful: false, error: `nothing is recorded for ${what}` };
    if (recorded?.$error !== undefined) return { successful: false, error: recorded.$error };
    return { successful: true, value: recorded };
  };
  const answered = (found, shape) => (found.successful ? { successful: true, value: shape(revived(found.value)) } : found);
  const api = {
    async query(dql) {
      log("dataview.query", dql);
      if (queries[dql]?.$throw) throw new Error(queries[dql].$throw);
      return answered(outcome(queries[dql], dql), result);
    },
    evaluate(expression, context, origin) {
      log("dataview.evaluate", { expression, origin: origin ?? null, fields: Object.keys(context).sort() });
      return answered(outcome(expressions[expression], expression), (value) => value);
    },
    page(path) {
      return path in pages ? revived(pages[path]) : undefined;
    },
  };
  return { api };
}

/** A recorded result in the shape that Dataview's own API gives it. */
function result({ type, values, headers, rows, tasks, entries, grouped }) {
  const meaning = { type: grouped ? "group" : "path" };
  if (type === "table") return { type, headers, values: rows, idMeaning: meaning };
  if (type === "task") return { type, values: tasks };
  if (type === "calendar") return { type, values: entries };
  return { type, values, primaryMeaning: meaning };
}

/** Runs `<% expression %>` with `tp.file.title`; a template that throws leaves nothing behind, as Templater has it. */
function templater(app, { templates_folder = "" }, log) {
  const run = (text, target) => {
    const tp = { file: { title: target.basename } };
    return text.replace(/<%\s*(.+?)\s*%>/g, (_, source) => new Function("tp", `return ${source}`)(tp));
  };
  const engine = {
    async create_new_note_from_template(template, folder, name, open) {
      const file = await app.vault.create(folder.path === "/" ? `${name}.md` : `${folder.path}/${name}.md`, "");
      try {
        await app.vault.modify(file, run(await app.vault.read(template), file));
      } catch (error) {
        log("templater.error", error.message);
        await app.vault.delete(file);
        return undefined;
      }
      log("templater.create", { template: template.path, target: file.path, open });
      return file;
    },
    create_running_config: (template, target, mode) => ({ template, target, mode }),
    async read_and_parse_template({ template, target, mode }) {
      log("templater.parse", { template: template.path, target: target.path, mode });
      return run(await app.vault.read(template), target);
    },
  };
  return { templater: engine, settings: { templates_folder } };
}

function quickadd(app, { choices = [], fails = {} }, log) {
  const executeChoice = async (name, variables) => {
    log("quickadd.execute", { name, variables });
    if (fails[name]) throw new Error(fails[name]);
  };
  return { api: { executeChoice }, settings: { choices } };
}

function textExtractor(app, { texts = {}, cached = [] }, log) {
  const cache = new Set(cached);
  let working = 0;
  const api = {
    canFileBeExtracted: (path) => /\.(png|jpe?g|pdf)$/i.test(path),
    isInCache: async (file) => cache.has(file.path),
    removeFromCache: async (file) => cache.delete(file.path),
    async extractText(file) {
      working += 1;
      log("ocr.extract", { path: file.path, working });
      await new Promise((resolve) => setImmediate(resolve));
      working -= 1;
      if (!(file.path in texts)) throw new Error(`cannot read ${file.path}`);
      cache.add(file.path);
      return texts[file.path];
    },
  };
  return { api };
}

function excalidraw(app) {
  const ea = {
    isExcalidrawFile: (file) => /\.excalidraw(\.md)?$/.test(file.path),
    async getSceneFromFile(file) {
      const text = await app.vault.read(file);
      return JSON.parse(/```json\n([^]*?)\n```/.exec(text)?.[1] ?? text);
    },
  };
  return { ea };
}

function makemd(app, { spaces = {}, contexts = {} }) {
  const superstate = {
    spacesIndex: new Map(Object.entries(spaces)),
    contextsIndex: new Map(Object.entries(contexts)),
  };
  return { superstate };
}
