/** Excalidraw: the texts of a drawing as the plugin sees it, and new drawings. */

import type { TFile } from "obsidian";
import type { Body } from "../body";
import { part, running } from "../capabilities";
import { post, Refusal } from "../envelope";
import { exists, fileAt, folderFor, notFound, occupant } from "../files";
import { type Host, member } from "../host";

export const excalidraw = [post("/excalidraw/read", read), post("/excalidraw/write", write)];

type Element = Record<string, unknown>;

interface Automate {
  getSceneFromFile(file: TFile): Promise<{ elements?: Element[] } | undefined>;
  isExcalidrawFile?(file: TFile): boolean;
}

async function read(body: Body, host: Host): Promise<unknown> {
  const path = body.path("path");
  body.choice("format", ["elements", "text", "both"], "both");
  const engine = part<Automate>(host, "excalidraw", "ea", ["getSceneFromFile"]);
  const file = fileAt(host, path);
  if (engine.isExcalidrawFile?.(file) === false) throw new Refusal("invalid_input", `${path} is no drawing`, { path });
  const scene = await engine.getSceneFromFile(file);
  return { path, text_content: texts(scene?.elements ?? []).map(textOf).join("\n\n") };
}

/** Only whole drawings are written, and one that is there stays as it is unless it may be overwritten. */
async function write(body: Body, host: Host): Promise<unknown> {
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

async function put(host: Host, path: string, taken: TFile | null, text: string): Promise<void> {
  if (taken !== null) return host.vault.modify(taken, text);
  await folderFor(host, path);
  await host.vault.create(path, text);
}

function drawing(path: string, elements: Element[]): string {
  const appState = { gridSize: null, viewBackgroundColor: "#ffffff" };
  const scene = { type: "excalidraw", version: 2, source: "knapper", elements, appState, files: {} };
  const json = JSON.stringify(scene, null, "\t");
  return path.toLowerCase().endsWith(".md") ? note(json, elements) : json;
}

/** A drawing as the plugin keeps it in a note: its texts, so that search and links find them, and then its data. */
function note(json: string, elements: Element[]): string {
  const named = texts(elements).filter(({ id }) => typeof id === "string");
  return [
    "---\n\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n\n---",
    "==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠==\n\n",
    "# Excalidraw Data\n",
    "## Text Elements",
    ...named.map((element) => `${textOf(element)} ^${String(element["id"])}\n`),
    "%%\n## Drawing",
    `\`\`\`json\n${json}\n\`\`\`\n%%\n`,
  ].join("\n");
}

/** The texts that are shown, from top to bottom. */
function texts(elements: Element[]): Element[] {
  const shown = elements.filter((element) => element["type"] === "text" && element["isDeleted"] !== true);
  return shown.sort((one, other) => number(one, "y") - number(other, "y") || number(one, "x") - number(other, "x"));
}

function number(element: Element, name: string): number {
  const value = element[name];
  return typeof value === "number" ? value : 0;
}

/** As it was typed, before wrapping. */
function textOf(element: Element): string {
  const found = ["rawText", "originalText", "text"].map((name) => member(element, name));
  return String(found.find((text) => typeof text === "string" && text !== "") ?? "");
}
