/** What Obsidian has and its published types do not say: other plugins and commands. */

import type { App, PluginManifest } from "obsidian";

export interface KnownCommand {
  id: string;
  name: string;
}

export interface Commands {
  listCommands(): KnownCommand[];
  findCommand?(id: string): KnownCommand | undefined;
  executeCommandById(id: string): boolean;
}

export interface Plugins {
  plugins: Record<string, unknown>;
  manifests?: Record<string, PluginManifest>;
}

interface Inner {
  commands: Commands;
  plugins: Plugins;
}

export type Host = App & Inner;

/** A property of something nobody has promised anything about. */
export function member(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null ? (of as Record<string, unknown>)[name] : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
