// A vault over a real folder. As in the app, a file that another program makes is there only when it has been noticed.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Events, FileSystemAdapter, TFile, TFolder } from "./api.mjs";

class Adapter extends FileSystemAdapter {
  constructor(root, asked) {
    super();
    this.root = root;
    this.asked = asked;
  }

  getBasePath() {
    return this.root;
  }

  async exists(path) {
    this.asked();
    return existsSync(join(this.root, path));
  }

  async read(path) {
    return readFileSync(join(this.root, path), "utf8");
  }
}

/** An adapter as on a phone, which has no folder to name. */
class Elsewhere {
  constructor(inner) {
    this.exists = inner.exists.bind(inner);
    this.read = inner.read.bind(inner);
  }
}

export class Vault extends Events {
  #known = new Map();
  /** Whether what other programs make is noticed, the moment after somebody looks for it on disk. */
  watching = false;

  constructor(root, name, desktop = true) {
    super();
    const adapter = new Adapter(root, () => this.watching && setImmediate(() => this.notice()));
    this.adapter = desktop ? adapter : new Elsewhere(adapter);
    this.root = root;
    this.name = name;
    this.#known.set("/", new TFolder("/", null));
    this.notice();
  }

  getName() {
    return this.name;
  }

  getRoot() {
    return this.#known.get("/");
  }

  getAbstractFileByPath(path) {
    return this.#known.get(path) ?? null;
  }

  getMarkdownFiles() {
    return [...this.#known.values()].filter((file) => file instanceof TFile && file.extension === "md");
  }

  async read(file) {
    return readFileSync(join(this.root, file.path), "utf8");
  }

  async create(path, text) {
    if (existsSync(join(this.root, path))) throw new Error("File already exists.");
    writeFileSync(join(this.root, path), text); // and as in the app, a folder that is missing is an error
    return this.#add(path);
  }

  async createFolder(path) {
    if (existsSync(join(this.root, path))) throw new Error("Folder already exists.");
    mkdirSync(join(this.root, path), { recursive: true });
    return this.#add(path);
  }

  async modify(file, text) {
    if (!existsSync(join(this.root, file.path))) throw new Error("ENOENT: no such file");
    writeFileSync(join(this.root, file.path), text);
    this.trigger("modify", file);
  }

  async delete(file) {
    unlinkSync(join(this.root, file.path));
    this.#known.delete(file.path);
    this.trigger("delete", file);
  }

  /** Take in what other programs have made, as the app's watcher does; hidden files are left out. */
  notice(folder = "") {
    for (const name of readdirSync(join(this.root, folder)).sort()) {
      if (name.startsWith(".")) continue;
      const path = folder ? `${folder}/${name}` : name;
      if (!this.#known.has(path)) this.#add(path);
      if (statSync(join(this.root, path)).isDirectory()) this.notice(path);
    }
  }

  #add(path) {
    const above = dirname(path) === "." ? "/" : dirname(path);
    if (!this.#known.has(above)) this.#add(above);
    const kind = statSync(join(this.root, path)).isDirectory() ? TFolder : TFile;
    const made = new kind(path, this.#known.get(above));
    this.#known.set(path, made);
    this.#known.get(above).children.push(made);
    this.trigger("create", made);
    return made;
  }
}
