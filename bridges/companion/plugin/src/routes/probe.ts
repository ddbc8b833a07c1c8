/** GET /probe: who answers here, and what it can be asked. */

import { apiVersion, FileSystemAdapter, type PluginManifest } from "obsidian";
import { inventory } from "../capabilities";
import type { Route } from "../envelope";
import type { Host } from "../host";
import { shapeWarnings } from "../shape";

const API_VERSION = "1";

export function probe(manifest: PluginManifest): Route {
  return { method: "get", path: "/probe", handle: (_, host) => report(manifest, host) };
}

function report(manifest: PluginManifest, host: Host): unknown {
  const warnings = shapeWarnings(host);
  return {
    plugin_id: manifest.id,
    plugin_version: manifest.version,
    obsidian_version: apiVersion,
    obsidianTcApiVersion: API_VERSION,
    vault_path: vaultPath(host),
    capabilities: inventory(host),
    shape_ok: warnings.length === 0,
    ...(warnings.length > 0 ? { shape_warnings: warnings } : {}),
  };
}

/** The folder where the vault is one, else its name. */
function vaultPath(host: Host): string {
  const { adapter } = host.vault;
  return adapter instanceof FileSystemAdapter ? adapter.getBasePath() : host.vault.getName();
}
