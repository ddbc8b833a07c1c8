/* Knapper companion, MIT. Built from bridges/companion/plugin of the knapper project; do not edit.
   sources sha256:271b8bf1686b4618060344ca0360938ea20c65f18b421e67abdc80b5e11cb22b */
"use strict";
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// src/main.ts
var main_exports = {};
__export(main_exports, {
  default: () => KnapperCompanion
});
module.exports = __toCommonJS(main_exports);
var import_obsidian5 = require("obsidian");

// src/body.ts
var import_obsidian = require("obsidian");

// src/host.ts
function member(of, name) {
  return typeof of === "object" && of !== null ? of[name] : void 0;
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/body.ts
var Body = class {
  fields;
  constructor(raw) {
    const given = raw ?? {};
    if (!isRecord(given)) throw new Refusal("invalid_input", "the body has to be a JSON object");
    this.fields = given;
  }
  /** A field as it came; null counts as not given. */
  raw(name) {
    return this.fields[name] ?? void 0;
  }
  text(name) {
    const value = this.raw(name);
    if (typeof value !== "string" || value === "") throw wrong(name, "a text that is not empty");
    return value;
  }
  optionalText(name) {
    return this.raw(name) === void 0 ? void 0 : this.text(name);
  }
  texts(name) {
    const value = this.raw(name);
    const fits = Array.isArray(value) && value.length > 0;
    if (!fits || !value.every((item) => typeof item === "string" && item !== "")) {
      throw wrong(name, "a list of texts that is not empty");
    }
    return value;
  }
  flag(name) {
    const value = this.raw(name) ?? false;
    if (typeof value !== "boolean") throw wrong(name, "true or false");
    return value;
  }
  /** A whole number from 1 to `most`. */
  count(name, most, otherwise) {
    const value = this.raw(name) ?? otherwise;
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > most) {
      throw wrong(name, `a whole number from 1 to ${most}`);
    }
    return value;
  }
  /** A list of objects; none where it is not given. */
  objects(name) {
    const value = this.raw(name) ?? [];
    if (!Array.isArray(value) || !value.every(isRecord)) throw wrong(name, "a list of objects");
    return value;
  }
  choice(name, choices, otherwise) {
    const value = this.raw(name) ?? otherwise;
    const found2 = choices.find((choice) => choice === value);
    if (found2 === void 0) throw wrong(name, `one of ${choices.join(", ")}`);
    return found2;
  }
  object(name) {
    const value = this.raw(name) ?? {};
    if (!isRecord(value)) throw wrong(name, "an object");
    return value;
  }
  path(name) {
    return vaultPath(this.text(name), name);
  }
  paths(name) {
    return this.texts(name).map((path) => vaultPath(path, name));
  }
};
function vaultPath(path, field) {
  const inside = !path.startsWith("/") && !path.includes("\\") && !path.includes("\0");
  if (!inside || path.split("/").some((part2) => part2 === ".." || part2 === ".")) {
    throw wrong(field, "a path inside the vault");
  }
  return (0, import_obsidian.normalizePath)(path);
}
function wrong(field, wanted) {
  return new Refusal("invalid_input", `${field} has to be ${wanted}`, { field });
}

// src/envelope.ts
var Refusal = class extends Error {
  constructor(code, message, details) {
    super(message);
    this.code = code;
    this.details = details;
  }
};
var post = (path, handle) => ({ method: "post", path, handle });
async function answer(handle, raw, host) {
  try {
    return JSON.stringify({ ok: true, result: await handle(new Body(raw), host) });
  } catch (error) {
    return JSON.stringify(failure(error));
  }
}
function failure(error) {
  if (error instanceof Refusal) {
    const { code, message, details } = error;
    return { ok: false, code, message, ...details ? { details } : {} };
  }
  return { ok: false, code: "bridge_error", message: messageOf(error) };
}
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

// src/attach.ts
var REST_API = "obsidian-local-rest-api";
var LOADED = "obsidian-local-rest-api:loaded";
var PREFIX = "/obsidian-tc/v1";
function attach(host, manifest, routes2) {
  const door = openDoor(host.plugins?.plugins?.[REST_API], manifest);
  if (door === null) return null;
  let live = true;
  for (const { method: method2, path, handle } of routes2) {
    const serve = async (request, response, next) => {
      if (!live) return next?.();
      response.status(200).type("application/json").send(await answer(handle, request.body, host));
    };
    door.addRoute(PREFIX + path)[method2](serve);
  }
  return {
    detach() {
      live = false;
      door.close();
    }
  };
}
function openDoor(restApi, manifest) {
  return publicDoor(restApi, manifest) ?? legacyDoor(restApi);
}
function publicDoor(restApi, manifest) {
  if (typeof member(restApi, "getPublicApi") !== "function") return null;
  try {
    const api2 = restApi.getPublicApi(manifest);
    const addRoute = method(api2, "addRoute");
    return addRoute && { addRoute, close: quietly(method(api2, "unregister")) };
  } catch (error) {
    console.warn("Knapper companion: the Local REST API is not ready yet", error);
    return null;
  }
}
function legacyDoor(restApi) {
  const router = member(member(restApi, "requestHandler"), "apiExtensionRouter");
  const addRoute = method(restApi, "addRoute") ?? method(member(restApi, "api"), "addRoute") ?? method(router, "route") ?? method(member(restApi, "router"), "route");
  return addRoute && { addRoute, close: () => void 0 };
}
function method(of, name) {
  const found2 = typeof of === "function" ? of[name] : member(of, name);
  return typeof found2 === "function" ? found2.bind(of) : null;
}
function quietly(close) {
  return () => {
    try {
      close?.();
    } catch (error) {
      console.warn("Knapper companion: could not take its routes away", error);
    }
  };
}

// src/files.ts
var import_obsidian2 = require("obsidian");
function fileAt(host, path) {
  const found2 = host.vault.getAbstractFileByPath(path);
  if (found2 instanceof import_obsidian2.TFile) return found2;
  throw notFound(path);
}
function occupant(host, path) {
  const found2 = host.vault.getAbstractFileByPath(path);
  if (found2 instanceof import_obsidian2.TFolder) throw new Refusal("invalid_input", `${path} is a folder`, { path });
  return found2 instanceof import_obsidian2.TFile ? found2 : null;
}
async function folderFor(host, path) {
  const parent = path.split("/").slice(0, -1).join("/");
  if (parent === "") return host.vault.getRoot();
  const found2 = host.vault.getAbstractFileByPath(parent);
  if (found2 instanceof import_obsidian2.TFile) throw new Refusal("invalid_input", `${parent} is a file`, { path: parent });
  return found2 instanceof import_obsidian2.TFolder ? found2 : host.vault.createFolder(parent);
}
function notFound(path) {
  return new Refusal("note_not_found", `there is no file ${path}`, { path });
}
function exists(path) {
  return new Refusal("note_exists", `${path} exists already`, { path });
}
function now() {
  return (/* @__PURE__ */ new Date()).toISOString();
}

// src/routes/commands.ts
var commands = [post("/commands/list", list), post("/commands/execute", execute)];
function list(body, host) {
  const filter2 = body.optionalText("filter")?.toLowerCase() ?? "";
  const matches = (text) => text.toLowerCase().includes(filter2);
  const items = host.commands.listCommands().filter(({ id, name }) => matches(id) || matches(name)).map(({ id, name }) => ({ id, name }));
  return { items, total: items.length };
}
function execute(body, host) {
  const id = body.text("command_id");
  if (find(host, id) === void 0) throw refused(id, "is no command of this vault");
  if (!host.commands.executeCommandById(id)) throw refused(id, "cannot be run as things stand in the app");
  return { command_id: id, fired_at: now() };
}
function find(host, id) {
  return host.commands.findCommand?.(id) ?? host.commands.listCommands().find((command) => command.id === id);
}
function refused(id, problem) {
  return new Refusal("invalid_input", `${id} ${problem}`, { command_id: id });
}

// src/capabilities.ts
var PLUGINS = {
  excalidraw: "obsidian-excalidraw-plugin",
  dataview: "dataview",
  tasks: "obsidian-tasks-plugin",
  templater: "templater-obsidian",
  quickadd: "quickadd",
  "text-extractor": "text-extractor",
  "make-md": "make-md"
};
function inventory(host) {
  const found2 = {};
  for (const [key, id] of Object.entries(PLUGINS)) {
    const plugin = host.plugins?.plugins?.[id];
    found2[key] = plugin ? { installed: true, ...versionOf(host, id, plugin) } : { installed: false };
  }
  return found2;
}
function versionOf(host, id, plugin) {
  const version = member(member(plugin, "manifest"), "version") ?? host.plugins.manifests?.[id]?.version;
  return typeof version === "string" ? { version } : {};
}
function running(host, key) {
  const id = PLUGINS[key];
  const plugin = host.plugins?.plugins?.[id];
  if (plugin) return plugin;
  throw new Refusal("plugin_missing", `the plugin ${id} is not installed or not enabled`, {
    plugin: key,
    reason: "plugin_not_installed"
  });
}
function part(host, key, name, methods) {
  const found2 = name.split(".").reduce(member, running(host, key));
  const missing = methods.find((one2) => typeof member(found2, one2) !== "function");
  if (typeof found2 === "object" && found2 !== null && missing === void 0) return found2;
  throw unreachable(key, `has no ${missing === void 0 ? name : `${name}.${missing}`} in this version`);
}
function unreachable(key, problem) {
  return new Refusal("plugin_unreachable", `the plugin ${key} ${problem}`, { plugin: key });
}

// src/values.ts
var DEEPEST = 64;
var UNITS = ["years", "months", "weeks", "days", "hours", "minutes", "seconds", "milliseconds"];
function kindOf(value) {
  if (value === null || value === void 0) return "null";
  if (typeof value === "boolean" || typeof value === "number" || typeof value === "string") return typeof value;
  if (typeof value === "function") return "function";
  if (member(value, "isLuxonDateTime") === true) return "date";
  if (member(value, "isLuxonDuration") === true) return "duration";
  if (typeof member(value, "$widget") === "string") return "widget";
  if (isLink(value)) return "link";
  if (Array.isArray(value) || typeof member(value, "array") === "function") return "array";
  return typeof member(value, "outerHTML") === "string" ? "html" : "object";
}
function isLink(value) {
  return typeof member(value, "path") === "string" && typeof member(value, "markdown") === "function";
}
function plain(value, depth = 0) {
  if (depth > DEEPEST) throw new Error("the value is nested too deeply");
  switch (kindOf(value)) {
    case "null":
      return null;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "date":
      return date(value);
    case "duration":
      return duration(value);
    case "link":
      return value.markdown();
    case "array":
      return listOf(value).map((item) => plain(item, depth + 1));
    case "object":
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, depth + 1)]));
    case "widget":
      return widget(value, depth);
    case "html":
      return member(value, "textContent") ?? "";
    case "function":
      return "<function>";
    default:
      return value;
  }
}
function listOf(value) {
  if (Array.isArray(value)) return value;
  const found2 = isRecord(value) && typeof value["array"] === "function" ? value["array"]() : [];
  return Array.isArray(found2) ? found2 : [];
}
function pairOf(value) {
  if (member(value, "$widget") !== "dataview:list-pair") return null;
  return [member(value, "key"), member(value, "value")];
}
function widget(value, depth) {
  const pair = pairOf(value);
  if (pair) return pair.map((side) => plain(side, depth + 1));
  const url = member(value, "url");
  return typeof url === "string" ? `[${String(member(value, "display") ?? url)}](${url})` : null;
}
function date(moment) {
  const midnight = moment.hour + moment.minute + moment.second + moment.millisecond === 0;
  return midnight ? moment.toISODate() : moment.toISO({ suppressMilliseconds: true });
}
function duration(span) {
  const parts = (span.shiftToAll?.() ?? span).normalize().toObject();
  const counted = UNITS.flatMap((unit) => parts[unit] ? [amount(parts[unit], unit)] : []);
  return counted.join(", ");
}
function amount(count, unit) {
  const text = count.toLocaleString("en-US", { maximumFractionDigits: 3 });
  return `${text} ${text === "1" ? unit.slice(0, -1) : unit}`;
}

// src/routes/dataview.ts
var KINDS = ["table", "list", "task", "calendar"];
var TASK_HEADERS = ["text", "status", "path", "line"];
var dataview = [
  post("/dataview/dql", dql),
  post("/dataview/validate", validate),
  post("/dataview/eval", evaluate)
];
async function dql(body, host) {
  const source = body.text("dql");
  const wanted = body.raw("format") === void 0 ? null : body.choice("format", KINDS, "table");
  const result = await run(api(host), source);
  const kind = member(result, "type");
  if (wanted !== null && kind !== wanted) {
    throw new Refusal("dql_error", `the query is a ${String(kind).toUpperCase()}, not a ${wanted.toUpperCase()}`);
  }
  return rowsOf(result, source);
}
async function validate(body, host) {
  try {
    await run(api(host), body.text("dql"));
    return { valid: true };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "dql_error") throw error;
    return { valid: false, error: { message: error.message, ...error.details } };
  }
}
function evaluate(body, host) {
  const expression = body.text("expression");
  const path = body.raw("path") === void 0 ? void 0 : body.path("path");
  const found2 = api(host).evaluate(expression, fieldsOf(host, path), path);
  if (!found2.successful) throw mistake(found2.error);
  return { value: plain(found2.value), type: kindOf(found2.value) };
}
function api(host) {
  return part(host, "dataview", "api", ["query", "evaluate", "page"]);
}
async function run(dataview2, source) {
  const found2 = await dataview2.query(source).catch((error) => ({ successful: false, error }));
  if (found2.successful) return found2.value;
  throw mistake(found2.error);
}
function fieldsOf(host, path) {
  if (path === void 0) return {};
  const page = api(host).page(path);
  if (!isRecord(page)) throw notFound(path);
  return { ...page, this: page };
}
function rowsOf(result, source) {
  const values = listOf(member(result, "values"));
  switch (member(result, "type")) {
    case "table":
      return found(listOf(member(result, "headers")).map(String), values.map(listOf), named(result, source));
    case "list":
      return found([], values.map((value) => pairOf(value) ?? [value]), named(result, source));
    case "calendar":
      return found(["date", "note"], values.map((entry) => [member(entry, "date"), member(entry, "link")]), 1);
    case "task":
      return tasks(values);
    default:
      throw new Refusal("plugin_unreachable", "Dataview answered with a kind of result that is not known", {
        plugin: "dataview"
      });
  }
}
function found(headers, rows, column) {
  const links = column === null ? [] : rows.map((row) => row[column]).filter(isLink);
  const note_paths = [...new Set(links.map((link) => link.path))];
  return { headers, rows: rows.map((row) => row.map((cell) => plain(cell))), note_paths };
}
function named(result, source) {
  const meaning = member(result, "idMeaning") ?? member(result, "primaryMeaning");
  return member(meaning, "type") === "group" || /^\s*(table|list)\s+without\s+id\b/i.test(source) ? null : 0;
}
function tasks(entries) {
  let depth = 0;
  for (let first = entries[0]; isGroup(first); first = listOf(first.rows)[0]) depth += 1;
  const numbered = Array.from({ length: depth }, (_, index2) => `group ${index2 + 1}`);
  const rows = [...taskRows(entries, [])];
  const note_paths = [...new Set(rows.map((row) => String(row[depth + 2])))];
  return { headers: [...depth === 1 ? ["group"] : numbered, ...TASK_HEADERS], rows, note_paths };
}
function isGroup(entry) {
  return isRecord(entry) && "key" in entry && "rows" in entry;
}
function* taskRows(entries, keys) {
  for (const entry of entries) {
    if (isGroup(entry)) yield* taskRows(listOf(entry.rows), [...keys, plain(entry.key)]);
    else yield [...keys, ...cells(entry)];
  }
}
function cells(task) {
  const named2 = ["text", "status", "path"].map((name) => member(task, name));
  return [...named2, Number(member(task, "line")) + 1];
}
function mistake(error) {
  const message = messageOf(error);
  const drawn = /^>\s*(\d+)\s*\|.*\n([^\n]*?\|)([^\n]*)\^/m.exec(message);
  if (!drawn) return new Refusal("dql_error", message);
  const place = { line: Number(drawn[1]), col: Math.max(1, (drawn[3] ?? "").length) };
  return new Refusal("dql_error", message, place);
}

// src/routes/excalidraw.ts
var excalidraw = [post("/excalidraw/read", read), post("/excalidraw/write", write)];
async function read(body, host) {
  const path = body.path("path");
  body.choice("format", ["elements", "text", "both"], "both");
  const engine = part(host, "excalidraw", "ea", ["getSceneFromFile"]);
  const file = fileAt(host, path);
  if (engine.isExcalidrawFile?.(file) === false) throw new Refusal("invalid_input", `${path} is no drawing`, { path });
  const scene = await engine.getSceneFromFile(file);
  return { path, text_content: texts(scene?.elements ?? []).map(textOf).join("\n\n") };
}
async function write(body, host) {
  const path = body.path("path");
  const mode = body.choice("mode", ["create", "update"], "create");
  const overwrite = body.flag("overwrite");
  const elements = body.objects("elements");
  running(host, "excalidraw");
  if (!/\.excalidraw(\.md)?$/i.test(path)) {
    throw new Refusal("invalid_input", `${path} ends neither with .excalidraw.md nor .excalidraw`, { path });
  }
  const taken = occupant(host, path);
  if (taken === null && mode === "update") throw notFound(path);
  if (taken !== null && !overwrite) {
    if (mode === "create") throw exists(path);
    return { path, plugin_used: true, unchanged: true };
  }
  await put(host, path, taken, drawing(path, elements));
  return { path, plugin_used: true };
}
async function put(host, path, taken, text) {
  if (taken !== null) return host.vault.modify(taken, text);
  await folderFor(host, path);
  await host.vault.create(path, text);
}
function drawing(path, elements) {
  const appState = { gridSize: null, viewBackgroundColor: "#ffffff" };
  const scene = { type: "excalidraw", version: 2, source: "knapper", elements, appState, files: {} };
  const json = JSON.stringify(scene, null, "	");
  return path.toLowerCase().endsWith(".md") ? note(json, elements) : json;
}
function note(json, elements) {
  const named2 = texts(elements).filter(({ id }) => typeof id === "string");
  return [
    "---\n\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n\n---",
    "==\u26A0  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. \u26A0==\n\n",
    "# Excalidraw Data\n",
    "## Text Elements",
    ...named2.map((element) => `${textOf(element)} ^${String(element["id"])}
`),
    "%%\n## Drawing",
    `\`\`\`json
${json}
\`\`\`
%%
`
  ].join("\n");
}
function texts(elements) {
  const shown = elements.filter((element) => element["type"] === "text" && element["isDeleted"] !== true);
  return shown.sort((one2, other) => number(one2, "y") - number(other, "y") || number(one2, "x") - number(other, "x"));
}
function number(element, name) {
  const value = element[name];
  return typeof value === "number" ? value : 0;
}
function textOf(element) {
  const found2 = ["rawText", "originalText", "text"].map((name) => member(element, name));
  return String(found2.find((text) => typeof text === "string" && text !== "") ?? "");
}

// src/routes/makemd.ts
var makemd = [post("/makemd/spaces", spaces), post("/makemd/query", query)];
var MOST = 1e3;
var USUAL = 50;
var FILE = "File";
function spaces(_, host) {
  const found2 = [...index(host, "spacesIndex")].map(([path, space]) => ({
    id: path,
    name: nameOf(path, space),
    path,
    view_count: views(index(host, "contextsIndex").get(path))
  }));
  return { spaces: found2 };
}
function query(body, host) {
  const id = body.text("space_id");
  const limit = body.count("limit", MOST, USUAL);
  const start = Number(body.optionalText("cursor") ?? "0");
  if (!Number.isInteger(start) || start < 0) {
    throw new Refusal("invalid_input", "cursor is not one of ours", { field: "cursor" });
  }
  if (body.raw("filter") !== void 0 || body.raw("sort") !== void 0) {
    throw unreachable("make-md", "has no interface for filters and orders; use engine native");
  }
  if (!index(host, "spacesIndex").has(id)) throw new Refusal("invalid_input", `${id} is no space`, { space_id: id });
  const rows = rowsOf2(index(host, "contextsIndex").get(id));
  const items = rows.slice(start, start + limit).map(({ [FILE]: path, ...columns }) => ({ note_path: path, columns }));
  const more = start + limit < rows.length ? { cursor: String(start + limit) } : {};
  return { items, total: rows.length, ...more };
}
function index(host, name) {
  const found2 = member(part(host, "make-md", "superstate", []), name);
  if (found2 instanceof Map) return found2;
  throw unreachable("make-md", `has no ${name} in this version`);
}
function nameOf(path, space) {
  const name = member(space, "name");
  return typeof name === "string" && name !== "" ? name : path.split("/").pop() ?? path;
}
function views(context) {
  const schemas = member(context, "schemas");
  return Array.isArray(schemas) ? schemas.filter((schema) => member(schema, "type") !== "db").length : 0;
}
function rowsOf2(context) {
  const rows = member(member(context, "contextTable"), "rows");
  return Array.isArray(rows) ? rows.filter((row) => isRecord(row) && typeof row[FILE] === "string") : [];
}

// src/routes/notes.ts
var import_obsidian3 = require("obsidian");
var notes = [post("/notes/open", open), post("/notes/refresh", refresh)];
var NOTICING_MS = 2e3;
async function open(body, host) {
  const path = body.path("path");
  const newTab = body.flag("newtab");
  const file = await noticed(host, path);
  await host.workspace.getLeaf(newTab ? "tab" : false).openFile(file);
  return { path, opened_at: now() };
}
async function noticed(host, path) {
  if (host.vault.getAbstractFileByPath(path) !== null) return fileAt(host, path);
  const seen = created(host, path);
  if (await host.vault.adapter.exists(path)) await seen.arrived;
  seen.stop();
  return fileAt(host, path);
}
function created(host, path) {
  let stop = () => {
  };
  const arrived = new Promise((resolve) => {
    const listening = host.vault.on("create", (file) => {
      if (file.path === path) resolve();
    });
    const timer = setTimeout(resolve, NOTICING_MS);
    stop = () => {
      clearTimeout(timer);
      host.vault.offref(listening);
    };
  });
  return { arrived, stop: () => stop() };
}
async function refresh(body, host) {
  const wanted = new Set(body.paths("paths"));
  const done = { refreshed: [], skipped: [] };
  for (const view of openViews(host)) {
    const path = view.file?.path;
    if (path !== void 0 && wanted.has(path)) await show(host, view, path, done);
  }
  return { refreshed: [...new Set(done.refreshed)], skipped: [...new Set(done.skipped)] };
}
function openViews(host) {
  const found2 = [];
  host.workspace.iterateAllLeaves(({ view }) => {
    if (view instanceof import_obsidian3.TextFileView) found2.push(view);
  });
  return found2;
}
async function show(host, view, path, done) {
  if (!await host.vault.adapter.exists(path)) return;
  const text = await host.vault.adapter.read(path);
  if (edited(view)) {
    done.skipped.push(path);
    return;
  }
  if (view.getViewData() !== text) {
    view.data = text;
    view.lastSavedData = text;
    view.setViewData(text, false);
  }
  done.refreshed.push(path);
}
function edited(view) {
  const saved = member(view, "lastSavedData");
  return member(view, "dirty") === true || typeof saved === "string" && view.getViewData() !== saved;
}

// src/routes/ocr.ts
var ocr = [post("/ocr/attachment", one), post("/ocr/bulk", many)];
var MOST_AT_ONCE = 4;
var USUALLY_AT_ONCE = 2;
function one(body, host) {
  const force = body.flag("force");
  return extract(host, extractor(host), body.path("path"), force);
}
async function many(body, host) {
  const paths = [...new Set(body.paths("paths"))];
  const force = body.flag("force");
  const atOnce = body.count("max_concurrent", MOST_AT_ONCE, USUALLY_AT_ONCE);
  const engine = extractor(host);
  const started = Date.now();
  const results = await inTurns(paths, atOnce, async (path) => {
    try {
      return { path, ok: true, text: (await extract(host, engine, path, force)).text };
    } catch (error) {
      return { path, ok: false, error: messageOf(error) };
    }
  });
  return { processed: results.length, results, total_duration_ms: Date.now() - started };
}
function extractor(host) {
  return part(host, "text-extractor", "api", ["extractText"]);
}
async function extract(host, engine, path, force) {
  const file = fileAt(host, path);
  if (engine.canFileBeExtracted?.(path) === false) {
    throw new Refusal("invalid_input", `${path} is of a kind that Text Extractor does not read`, { path });
  }
  const started = Date.now();
  if (force) await engine.removeFromCache?.(file);
  const cached = await engine.isInCache?.(file) ?? false;
  const text = await engine.extractText(file);
  return { path, text, cached, duration_ms: Date.now() - started };
}
async function inTurns(items, atOnce, work) {
  const results = [];
  const waiting = [...items.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next !== void 0; next = waiting.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

// src/routes/probe.ts
var import_obsidian4 = require("obsidian");

// src/shape.ts
function shapeWarnings(host) {
  const warnings = [];
  if (typeof host.commands?.listCommands !== "function") warnings.push("app.commands.listCommands is no function");
  if (!isRecord(host.plugins?.plugins)) warnings.push("app.plugins.plugins is no object");
  return warnings;
}

// src/routes/probe.ts
var API_VERSION = "1";
function probe(manifest) {
  return { method: "get", path: "/probe", handle: (_, host) => report(manifest, host) };
}
function report(manifest, host) {
  const warnings = shapeWarnings(host);
  return {
    plugin_id: manifest.id,
    plugin_version: manifest.version,
    obsidian_version: import_obsidian4.apiVersion,
    obsidianTcApiVersion: API_VERSION,
    vault_path: vaultPath2(host),
    capabilities: inventory(host),
    shape_ok: warnings.length === 0,
    ...warnings.length > 0 ? { shape_warnings: warnings } : {}
  };
}
function vaultPath2(host) {
  const { adapter } = host.vault;
  return adapter instanceof import_obsidian4.FileSystemAdapter ? adapter.getBasePath() : host.vault.getName();
}

// src/routes/quickadd.ts
var quickadd = [post("/quickadd/actions", actions), post("/quickadd/trigger", trigger)];
function actions(_, host) {
  return { items: choicesOf(host) };
}
async function trigger(body, host) {
  const name = body.text("action_name");
  const args = body.object("args");
  const engine = part(host, "quickadd", "api", ["executeChoice"]);
  const action = choicesOf(host).find((choice) => choice.name === name);
  if (action === void 0) throw refused2(name, "is no choice of QuickAdd");
  if (action.type === "multi") throw refused2(name, "only asks which; name one of the choices inside of it");
  await engine.executeChoice(name, args);
  return { action_name: name, fired_at: now() };
}
function choicesOf(host) {
  return [...walk(member(member(running(host, "quickadd"), "settings"), "choices"))];
}
function* walk(choices) {
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (!isRecord(choice) || typeof choice["name"] !== "string") continue;
    yield { name: choice["name"], type: String(choice["type"] ?? "").toLowerCase() };
    yield* walk(choice["choices"]);
  }
}
function refused2(name, problem) {
  return new Refusal("invalid_input", `${name} ${problem}`, { action_name: name });
}

// src/routes/tasks.ts
var tasks2 = [post("/tasks/filter", filter)];
function filter(body, host) {
  body.text("filter");
  running(host, "tasks");
  throw unreachable("tasks", "has no interface for queries; use engine native");
}

// src/routes/templater.ts
var templater = [post("/templater/list", list2), post("/templater/execute", execute2)];
var OVERWRITE_FILE = 2;
function list2(_, host) {
  const set = member(member(running(host, "templater"), "settings"), "templates_folder");
  const folder = typeof set === "string" ? set.replace(/^\/+|\/+$/g, "") : "";
  const files = host.vault.getMarkdownFiles().filter(({ path }) => folder === "" || path.startsWith(`${folder}/`));
  const items = files.map(({ path, basename }) => ({ path, name: basename }));
  return { items: items.sort((one2, other) => one2.path < other.path ? -1 : 1) };
}
async function execute2(body, host) {
  const target = body.path("target");
  if (!target.toLowerCase().endsWith(".md")) throw refused3("target", "target has to end with .md");
  if (Object.keys(body.object("args")).length > 0) {
    throw refused3("args", "Templater itself takes no arguments; leave args out");
  }
  const overwrite = body.flag("overwrite");
  const engine = part(host, "templater", "templater", [
    "create_new_note_from_template",
    "create_running_config",
    "read_and_parse_template"
  ]);
  const template = fileAt(host, body.path("template"));
  const taken = occupant(host, target);
  if (taken !== null && !overwrite) throw exists(target);
  const run2 = taken === null ? create(engine, template, target, host) : replace(engine, template, taken, host);
  const made = await run2;
  return { template: template.path, target: made.path, created_at: now() };
}
async function create(engine, template, target, host) {
  const folder = await folderFor(host, target);
  const name = target.slice(target.lastIndexOf("/") + 1, -".md".length);
  const made = await engine.create_new_note_from_template(template, folder, name, false).catch(failed);
  return made ?? failed("see Obsidian's console for why");
}
async function replace(engine, template, target, host) {
  const config = engine.create_running_config(template, target, OVERWRITE_FILE);
  const text = await engine.read_and_parse_template(config).catch(failed);
  await host.vault.modify(target, text ?? failed("see Obsidian's console for why"));
  return target;
}
function failed(why) {
  throw refused3("template", `the template failed: ${messageOf(why)}`);
}
function refused3(field, problem) {
  return new Refusal("invalid_input", problem, { field });
}

// src/routes.ts
var OF_PLUGINS = [...dataview, ...tasks2, ...templater, ...quickadd, ...ocr, ...excalidraw, ...makemd];
function routes(manifest) {
  return [probe(manifest), ...commands, ...notes, ...OF_PLUGINS];
}

// src/main.ts
var KnapperCompanion = class extends import_obsidian5.Plugin {
  attachment = null;
  onload() {
    const host = this.app;
    for (const warning of shapeWarnings(host)) console.warn(`Knapper companion: ${warning}`);
    this.reattach(host);
    const workspace = this.app.workspace;
    this.registerEvent(workspace.on(LOADED, () => this.reattach(host)));
    this.app.workspace.onLayoutReady(() => this.complainIfAlone());
  }
  onunload() {
    this.attachment?.detach();
    this.attachment = null;
  }
  /** The Local REST API is another object each time it is enabled, and has forgotten the routes of the last one. */
  reattach(host) {
    this.attachment?.detach();
    this.attachment = attach(host, this.manifest, routes(this.manifest));
  }
  complainIfAlone() {
    if (this.attachment === null) new import_obsidian5.Notice(`Knapper companion waits for the plugin ${REST_API} to be enabled.`);
  }
};
