/** The plugin: adds its routes to the Local REST API while both are enabled. */

import { Notice, Plugin } from "obsidian";
import { attach, LOADED, REST_API, type Attachment } from "./attach";
import type { Host } from "./host";
import { routes } from "./routes";
import { shapeWarnings } from "./shape";

export default class KnapperCompanion extends Plugin {
  private attachment: Attachment | null = null;

  override onload(): void {
    const host = this.app as Host;
    for (const warning of shapeWarnings(host)) console.warn(`Knapper companion: ${warning}`);
    this.reattach(host);
    const workspace = this.app.workspace as unknown as { on(name: string, callback: () => void): never };
    this.registerEvent(workspace.on(LOADED, () => this.reattach(host)));
    this.app.workspace.onLayoutReady(() => this.complainIfAlone());
  }

  override onunload(): void {
    this.attachment?.detach();
    this.attachment = null;
  }

  /** The Local REST API is another object each time it is enabled, and has forgotten the routes of the last one. */
  private reattach(host: Host): void {
    this.attachment?.detach();
    this.attachment = attach(host, this.manifest, routes(this.manifest));
  }

  private complainIfAlone(): void {
    if (this.attachment === null) new Notice(`Knapper companion waits for the plugin ${REST_API} to be enabled.`);
  }
}
