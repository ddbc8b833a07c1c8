/** Notes in the app: open one, and have open panes show what was written beside Obsidian. */

import { TextFileView, type TFile } from "obsidian";
import type { Body } from "../body";
import { post } from "../envelope";
import { fileAt, now } from "../files";
import { type Host, member } from "../host";

export const notes = [post("/notes/open", open), post("/notes/refresh", refresh)];

/** How long Obsidian may take to notice a file that another program has just made. */
const NOTICING_MS = 2000;

async function open(body: Body, host: Host): Promise<unknown> {
  const path = body.path("path");
  const newTab = body.flag("newtab");
  const file = await noticed(host, path);
  await host.workspace.getLeaf(newTab ? "tab" : false).openFile(file);
  return { path, opened_at: now() };
}

async function noticed(host: Host, path: string): Promise<TFile> {
  if (host.vault.getAbstractFileByPath(path) !== null) return fileAt(host, path);
  // Before the first wait, or the event could pass unseen.
  const seen = created(host, path);
  if (await host.vault.adapter.exists(path)) await seen.arrived;
  seen.stop();
  return fileAt(host, path);
}

function created(host: Host, path: string): { arrived: Promise<void>; stop(): void } {
  let stop = () => {};
  const arrived = new Promise<void>((resolve) => {
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

interface Refreshed {
  refreshed: string[];
  skipped: string[];
}

/** Panes that show one of the files take its text from disk; one with edits of its own is left to Obsidian. */
async function refresh(body: Body, host: Host): Promise<unknown> {
  const wanted = new Set(body.paths("paths"));
  const done: Refreshed = { refreshed: [], skipped: [] };
  for (const view of openViews(host)) {
    const path = view.file?.path;
    if (path !== undefined && wanted.has(path)) await show(host, view, path, done);
  }
  return { refreshed: [...new Set(done.refreshed)], skipped: [...new Set(done.skipped)] };
}

function openViews(host: Host): TextFileView[] {
  const found: TextFileView[] = [];
  host.workspace.iterateAllLeaves(({ view }) => {
    if (view instanceof TextFileView) found.push(view);
  });
  return found;
}

async function show(host: Host, view: TextFileView, path: string, done: Refreshed): Promise<void> {
  if (!(await host.vault.adapter.exists(path))) return;
  const text = await host.vault.adapter.read(path);
  if (edited(view)) {
    done.skipped.push(path);
    return;
  }
  if (view.getViewData() !== text) {
    view.data = text;
    (view as { lastSavedData?: string }).lastSavedData = text;
    view.setViewData(text, false);
  }
  done.refreshed.push(path);
}

/** Whether somebody has typed there since it was saved. */
function edited(view: TextFileView): boolean {
  const saved = member(view, "lastSavedData");
  return member(view, "dirty") === true || (typeof saved === "string" && view.getViewData() !== saved);
}
