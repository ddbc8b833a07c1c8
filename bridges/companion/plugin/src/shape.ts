/** Whether this Obsidian still has what the routes rely on and nobody has promised. */

import { type Host, isRecord } from "./host";

/** What is missing; nothing where all is well. */
export function shapeWarnings(host: Host): string[] {
  const warnings: string[] = [];
  if (typeof host.commands?.listCommands !== "function") warnings.push("app.commands.listCommands is no function");
  if (!isRecord(host.plugins?.plugins)) warnings.push("app.plugins.plugins is no object");
  return warnings;
}
