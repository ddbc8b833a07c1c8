/** Templater: its templates, and running one into a note. */

import type { TFile, TFolder } from "obsidian";
import type { Body } from "../body";
import { part, running } from "../capabilities";
import { messageOf, post, Refusal } from "../envelope";
import { exists, fileAt, folderFor, now, occupant } from "../files";
import { type Host, member } from "../host";

export const templater = [post("/templater/list", list), post("/templater/execute", execute)];

/** What Templater calls the overwriting of a file that is not the active one. */
const OVERWRITE_FILE = 2;

interface Templater {
  create_new_note_from_template(
    template: TFile,
    folder: TFolder,
    name: string,
    open: boolean,
  ): Promise<TFile | undefined>;
  create_running_config(template: TFile, target: TFile, mode: number): unknown;
  read_and_parse_template(config: unknown): Promise<string | null | undefined>;
}

function list(_: Body, host: Host): unknown {
  const set = member(member(running(host, "templater"), "settings"), "templates_folder");
  const folder = typeof set === "string" ? set.replace(/^\/+|\/+$/g, "") : "";
  const files = host.vault.getMarkdownFiles().filter(({ path }) => folder === "" || path.startsWith(`${folder}/`));
  const items = files.map(({ path, basename }) => ({ path, name: basename }));
  return { items: items.sort((one, other) => (one.path < other.path ? -1 : 1)) };
}

async function execute(body: Body, host: Host): Promise<unknown> {
  const target = body.path("target");
  if (!target.toLowerCase().endsWith(".md")) throw refused("target", "target has to end with .md");
  if (Object.keys(body.object("args")).length > 0) {
    throw refused("args", "Templater itself takes no arguments; leave args out");
  }
  const overwrite = body.flag("overwrite");
  const engine = part<Templater>(host, "templater", "templater", [
    "create_new_note_from_template",
    "create_running_config",
    "read_and_parse_template",
  ]);
  const template = fileAt(host, body.path("template"));
  const taken = occupant(host, target);
  if (taken !== null && !overwrite) throw exists(target);
  const run = taken === null ? create(engine, template, target, host) : replace(engine, template, taken, host);
  const made = await run;
  return { template: template.path, target: made.path, created_at: now() };
}

/** Templater takes an empty note back itself where the template fails. */
async function create(engine: Templater, template: TFile, target: string, host: Host): Promise<TFile> {
  const folder = await folderFor(host, target);
  const name = target.slice(target.lastIndexOf("/") + 1, -".md".length);
  const made = await engine.create_new_note_from_template(template, folder, name, false).catch(failed);
  return made ?? failed("see Obsidian's console for why");
}

/** The note is only touched when the template has run to its end. */
async function replace(engine: Templater, template: TFile, target: TFile, host: Host): Promise<TFile> {
  const config = engine.create_running_config(template, target, OVERWRITE_FILE);
  const text = await engine.read_and_parse_template(config).catch(failed);
  await host.vault.modify(target, text ?? failed("see Obsidian's console for why"));
  return target;
}

function failed(why: unknown): never {
  throw refused("template", `the template failed: ${messageOf(why)}`);
}

function refused(field: string, problem: string): Refusal {
  return new Refusal("invalid_input", problem, { field });
}
