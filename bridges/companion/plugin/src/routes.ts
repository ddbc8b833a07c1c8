/** All routes, a module for each group. */

import type { PluginManifest } from "obsidian";
import type { Route } from "./envelope";
import { commands } from "./routes/commands";
import { dataview } from "./routes/dataview";
import { excalidraw } from "./routes/excalidraw";
import { makemd } from "./routes/makemd";
import { notes } from "./routes/notes";
import { ocr } from "./routes/ocr";
import { probe } from "./routes/probe";
import { quickadd } from "./routes/quickadd";
import { tasks } from "./routes/tasks";
import { templater } from "./routes/templater";

const OF_PLUGINS = [...dataview, ...tasks, ...templater, ...quickadd, ...ocr, ...excalidraw, ...makemd];

export function routes(manifest: PluginManifest): Route[] {
  return [probe(manifest), ...commands, ...notes, ...OF_PLUGINS];
}
