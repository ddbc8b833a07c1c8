/** The plugins that routes stand on: which are running, in which version, and whether they are what they were. */

import { Refusal } from "./envelope";
import { type Host, member } from "./host";

/** Capability keys, as the server names them, and the plugins' own ids. */
export const PLUGINS = {
  excalidraw: "obsidian-excalidraw-plugin",
  dataview: "dataview",
  tasks: "obsidian-tasks-plugin",
  templater: "templater-obsidian",
  quickadd: "quickadd",
  "text-extractor": "text-extractor",
  "make-md": "make-md",
} as const;

export type Key = keyof typeof PLUGINS;

interface Capability {
  installed: boolean;
  version?: string;
}

/** Every plugin by its key; one that is installed and disabled cannot be asked and does not count. */
export function inventory(host: Host): Record<string, Capability> {
  const found: Record<string, Capability> = {};
  for (const [key, id] of Object.entries(PLUGINS)) {
    const plugin = host.plugins?.plugins?.[id];
    found[key] = plugin ? { installed: true, ...versionOf(host, id, plugin) } : { installed: false };
  }
  return found;
}

function versionOf(host: Host, id: string, plugin: unknown): { version?: string } {
  const version = member(member(plugin, "manifest"), "version") ?? host.plugins.manifests?.[id]?.version;
  return typeof version === "string" ? { version } : {};
}

/** The running plugin, or plugin_missing. */
export function running(host: Host, key: Key): unknown {
  const id = PLUGINS[key];
  const plugin = host.plugins?.plugins?.[id];
  if (plugin) return plugin;
  throw new Refusal("plugin_missing", `the plugin ${id} is not installed or not enabled`, {
    plugin: key,
    reason: "plugin_not_installed",
  });
}

/** What a plugin has under a dotted name, if it has these methods; otherwise plugin_unreachable. */
export function part<T>(host: Host, key: Key, name: string, methods: (keyof T & string)[]): T {
  const found = name.split(".").reduce(member, running(host, key));
  const missing = methods.find((one) => typeof member(found, one) !== "function");
  if (typeof found === "object" && found !== null && missing === undefined) return found as T;
  throw unreachable(key, `has no ${missing === undefined ? name : `${name}.${missing}`} in this version`);
}

export function unreachable(key: string, problem: string): Refusal {
  return new Refusal("plugin_unreachable", `the plugin ${key} ${problem}`, { plugin: key });
}
