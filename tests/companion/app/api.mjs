// What `require("obsidian")` gives a plugin: the classes and functions of the API that the companion uses.
export class Events {
  #listeners = [];

  on(name, callback) {
    const reference = { name, callback, from: this };
    this.#listeners.push(reference);
    return reference;
  }

  offref(reference) {
    this.#listeners = this.#listeners.filter((one) => one !== reference);
  }

  trigger(name, ...given) {
    for (const one of [...this.#listeners]) if (one.name === name) one.callback(...given);
  }

  get listening() {
    return this.#listeners.length;
  }
}

export class TAbstractFile {
  constructor(path, parent) {
    this.path = path;
    this.parent = parent;
    this.name = path.split("/").pop();
  }
}

export class TFile extends TAbstractFile {
  constructor(path, parent) {
    super(path, parent);
    const dot = this.name.lastIndexOf(".");
    this.basename = dot > 0 ? this.name.slice(0, dot) : this.name;
    this.extension = dot > 0 ? this.name.slice(dot + 1) : "";
  }
}

export class TFolder extends TAbstractFile {
  children = [];
}

export class FileSystemAdapter {}

export class TextFileView {
  data = "";
  lastSavedData = "";
  dirty = false;
  file = null;
}

export class Plugin {
  #events = [];

  constructor(app, manifest) {
    this.app = app;
    this.manifest = manifest;
  }

  onload() {}

  onunload() {}

  registerEvent(reference) {
    this.#events.push(reference);
  }

  load() {
    return this.onload();
  }

  unload() {
    for (const reference of this.#events) reference.from.offref(reference);
    return this.onunload();
  }
}

export const notices = [];

export class Notice {
  constructor(message) {
    notices.push(message);
  }
}

export const apiVersion = "1.8.9";

// Obsidian's own: slashes of one kind and number, no spaces that only look like spaces, composed letters.
export function normalizePath(path) {
  const slashes = path.replace(/[\\/]+/g, "/").replace(/^\/+|\/+$/g, "");
  return (slashes || "/").replace(/\u00a0|\u202f/g, " ").normalize("NFC");
}
