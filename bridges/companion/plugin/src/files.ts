/** Files of the vault, found by their exact paths. */

import { TFile, TFolder } from "obsidian";
import { Refusal } from "./envelope";
import type { Host } from "./host";

/** The file, or note_not_found. */
export function fileAt(host: Host, path: string): TFile {
  const found = host.vault.getAbstractFileByPath(path);
  if (found instanceof TFile) return found;
  throw notFound(path);
}

/** The file that is there already, or null; a folder of that name is invalid_input. */
export function occupant(host: Host, path: string): TFile | null {
  const found = host.vault.getAbstractFileByPath(path);
  if (found instanceof TFolder) throw new Refusal("invalid_input", `${path} is a folder`, { path });
  return found instanceof TFile ? found : null;
}

/** The folder that a file is to lie in, made where it is missing. */
export async function folderFor(host: Host, path: string): Promise<TFolder> {
  const parent = path.split("/").slice(0, -1).join("/");
  if (parent === "") return host.vault.getRoot();
  const found = host.vault.getAbstractFileByPath(parent);
  if (found instanceof TFile) throw new Refusal("invalid_input", `${parent} is a file`, { path: parent });
  return found instanceof TFolder ? found : host.vault.createFolder(parent);
}

export function notFound(path: string): Refusal {
  return new Refusal("note_not_found", `there is no file ${path}`, { path });
}

export function exists(path: string): Refusal {
  return new Refusal("note_exists", `${path} exists already`, { path });
}

export function now(): string {
  return new Date().toISOString();
}
