/** Routes on the Local REST API: through its hook for extensions, or as older versions of it let others in. */

import type { PluginManifest } from "obsidian";
import { answer, type Route } from "./envelope";
import { type Host, member } from "./host";

export const REST_API = "obsidian-local-rest-api";
export const LOADED = "obsidian-local-rest-api:loaded";
/** The published contract's own prefix: servers that know it keep working. */
export const PREFIX = "/obsidian-tc/v1";

export interface Attachment {
  detach(): void;
}

interface Response {
  status(code: number): Response;
  type(name: string): Response;
  send(text: string): unknown;
}

type Serve = (request: { body?: unknown }, response: Response, next?: () => void) => unknown;
type Place = Record<"get" | "post", (serve: Serve) => unknown>;
type AddRoute = (path: string) => Place;

interface Door {
  addRoute: AddRoute;
  close(): void;
}

/** Add the routes; null where the Local REST API is not there or not ready, which its event will tell. */
export function attach(host: Host, manifest: PluginManifest, routes: Route[]): Attachment | null {
  const door = openDoor(host.plugins?.plugins?.[REST_API], manifest);
  if (door === null) return null;
  let live = true;
  for (const { method, path, handle } of routes) {
    const serve: Serve = async (request, response, next) => {
      // An old version keeps the routes of a plugin that is gone; whoever came after it is to answer.
      if (!live) return next?.();
      response.status(200).type("application/json").send(await answer(handle, request.body, host));
    };
    door.addRoute(PREFIX + path)[method](serve);
  }
  return {
    detach() {
      live = false;
      door.close();
    },
  };
}

function openDoor(restApi: unknown, manifest: PluginManifest): Door | null {
  return publicDoor(restApi, manifest) ?? legacyDoor(restApi);
}

function publicDoor(restApi: unknown, manifest: PluginManifest): Door | null {
  if (typeof member(restApi, "getPublicApi") !== "function") return null;
  try {
    const api = (restApi as { getPublicApi(of: PluginManifest): unknown }).getPublicApi(manifest);
    const addRoute = method<AddRoute>(api, "addRoute");
    return addRoute && { addRoute, close: quietly(method<() => void>(api, "unregister")) };
  } catch (error) {
    console.warn("Knapper companion: the Local REST API is not ready yet", error);
    return null;
  }
}

function legacyDoor(restApi: unknown): Door | null {
  const router = member(member(restApi, "requestHandler"), "apiExtensionRouter");
  const addRoute =
    method<AddRoute>(restApi, "addRoute") ??
    method<AddRoute>(member(restApi, "api"), "addRoute") ??
    method<AddRoute>(router, "route") ??
    method<AddRoute>(member(restApi, "router"), "route");
  return addRoute && { addRoute, close: () => undefined };
}

function method<F>(of: unknown, name: string): F | null {
  // An express router is a function that carries methods.
  const found = typeof of === "function" ? (of as unknown as Record<string, unknown>)[name] : member(of, name);
  return typeof found === "function" ? (found.bind(of) as F) : null;
}

/** A Local REST API that is gone already may refuse to let go of what it no longer has. */
function quietly(close: (() => void) | null): () => void {
  return () => {
    try {
      close?.();
    } catch (error) {
      console.warn("Knapper companion: could not take its routes away", error);
    }
  };
}
