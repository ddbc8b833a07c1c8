// The Local REST API: its key, its bodies, its own command routes, and the ways in which it lets other plugins add routes.
import { createServer as createHttp } from "node:http";
import { createServer as createHttps } from "node:https";
import { readFileSync } from "node:fs";

export const ID = "obsidian-local-rest-api";
export const LOADED = `${ID}:loaded`;

/** Routes in the order they came, each handing on to the next, as express has them. */
class Router {
  routes = [];

  route(path) {
    const handlers = [];
    this.routes.push({ path, handlers });
    const place = {};
    for (const method of ["get", "post", "put", "patch", "delete"]) {
      place[method] = (handler) => {
        handlers.push({ method, handler });
        return place;
      };
    }
    return place;
  }

  async handle(request, response, done) {
    const found = this.routes.filter((route) => route.path === request.path).flatMap((route) => route.handlers);
    const queue = found.filter((one) => one.method === request.method.toLowerCase());
    const next = async () => {
      const one = queue.shift();
      return one ? one.handler(request, response, next) : done();
    };
    await next();
  }
}

class Response {
  #status = 200;
  #type = "application/json; charset=utf-8";

  constructor(raw) {
    this.raw = raw;
  }

  status(code) {
    this.#status = code;
    return this;
  }

  type(name) {
    this.#type = name;
    return this;
  }

  send(text) {
    this.raw.writeHead(this.#status, { "content-type": this.#type });
    this.raw.end(text);
    return this;
  }

  json(value) {
    return this.send(JSON.stringify(value));
  }
}

/** The plugin as others find it; `offers` says which of its ways in this version has. */
export class RestApi {
  extensions = new Map();
  own = new Router();
  asked = [];

  constructor(app, key, offers) {
    this.app = app;
    this.key = key;
    this.manifest = { id: ID, name: "Local REST API", version: "3.2.0" };
    this.offer(offers);
  }

  offer(offers) {
    for (const way of ["getPublicApi", "addRoute", "api", "requestHandler", "router"]) delete this[way];
    const add = (path) => this.own.route(path);
    if (offers === "public") this.getPublicApi = (manifest) => this.#publicApi(manifest);
    if (offers === "unready") {
      this.getPublicApi = () => {
        throw new Error("the server has not started");
      };
    }
    if (offers === "addRoute") this.addRoute = add;
    if (offers === "api") this.api = { addRoute: add };
    if (offers === "extension") this.requestHandler = { apiExtensionRouter: asFunction(this.own) };
    if (offers === "router") this.router = this.own;
  }

  #publicApi(manifest) {
    if (!manifest.id || !manifest.name || !manifest.version) {
      throw new Error("PluginManifest instance must include a defined id, name, and version to be acceptable.");
    }
    const router = new Router();
    const token = {};
    this.extensions.set(token, router);
    return { addRoute: (path) => router.route(path), unregister: () => this.extensions.delete(token) };
  }

  listen(tls) {
    const serve = (request, response) => this.#serve(request, new Response(response));
    const server = tls
      ? createHttps({ cert: readFileSync(tls.certificate), key: readFileSync(tls.key) }, serve)
      : createHttp(serve);
    return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
  }

  async #serve(raw, response) {
    const { pathname } = new URL(raw.url, "http://localhost");
    const text = await body(raw);
    this.asked.push({ method: raw.method, path: pathname, body: text });
    if (raw.headers.authorization !== `Bearer ${this.key}`) {
      return refuse(response, 401, "Authorization required.", 40101);
    }
    const request = { method: raw.method, path: pathname, headers: raw.headers, body: text };
    if ((raw.headers["content-type"] ?? "").includes("json")) {
      try {
        request.body = JSON.parse(text);
      } catch {
        return refuse(response, 400, "Your request could not be processed.", 40000);
      }
    } else if (text === "") request.body = {};
    return this.#route(request, response);
  }

  async #route(request, response) {
    const routers = [...this.extensions.values(), this.own];
    const next = async () => {
      const router = routers.shift();
      return router ? router.handle(request, response, next) : this.#commands(request, response);
    };
    await next();
  }

  #commands(request, response) {
    const { commands } = this.app;
    if (request.method === "GET" && request.path === "/commands/") {
      return response.json({ commands: commands.listCommands().map(({ id, name }) => ({ id, name })) });
    }
    const run = /^\/commands\/([^/]+)\/$/.exec(request.path);
    if (request.method !== "POST" || !run) return refuse(response, 404, "Not Found", 40400);
    const id = decodeURIComponent(run[1]);
    if (!commands.findCommand(id)) return refuse(response, 404, "Not Found", 40400);
    commands.executeCommandById(id);
    return response.status(204).send("");
  }
}

/** express's routers are functions that carry their methods. */
function asFunction(router) {
  const made = () => undefined;
  made.route = (path) => router.route(path);
  return made;
}

function refuse(response, status, message, errorCode) {
  return response.status(status).json({ errorCode, message });
}

async function body(raw) {
  const pieces = [];
  for await (const piece of raw) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}
