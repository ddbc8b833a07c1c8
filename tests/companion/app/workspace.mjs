// Panes, and the events by which plugins find each other.
import { Events, TextFileView } from "./api.mjs";

/** A pane with a note's text, which a person may have typed into. */
class MarkdownView extends TextFileView {
  constructor(vault, file, changed) {
    super();
    this.vault = vault;
    this.changed = changed;
    this.file = file;
    this.shown = "";
    this.renders = 0;
  }

  async load() {
    this.data = this.lastSavedData = await this.vault.read(this.file);
    this.setViewData(this.data, true);
  }

  getViewData() {
    return this.shown;
  }

  setViewData(data) {
    this.shown = data;
    this.renders += 1;
    this.changed();
  }

  /** A person types: a version of the app has a flag for it, or keeps what was saved last. */
  type(text, flag) {
    this.shown += text;
    if (!flag) return;
    this.dirty = true;
    delete this.lastSavedData;
  }
}

class Leaf {
  view = {};

  constructor(vault, changed) {
    this.vault = vault;
    this.changed = changed;
  }

  async openFile(file) {
    this.view = new MarkdownView(this.vault, file, this.changed);
    await this.view.load();
  }
}

export class Workspace extends Events {
  leaves = [];

  constructor(vault) {
    super();
    this.vault = vault;
  }

  getLeaf(kind) {
    if (kind === "tab" || this.leaves.length === 0) {
      this.leaves.push(new Leaf(this.vault, () => this.trigger("shown")));
    }
    return this.leaves.at(-1);
  }

  iterateAllLeaves(callback) {
    this.leaves.forEach((leaf) => callback(leaf));
  }

  onLayoutReady(callback) {
    callback();
  }

  /** Wait until a pane shows a text. */
  shows(path, text) {
    return new Promise((resolve) => {
      const look = () => {
        if (this.view(path)?.shown !== text) return;
        this.offref(reference);
        resolve();
      };
      const reference = this.on("shown", look);
      look();
    });
  }

  view(path) {
    return this.leaves.find((leaf) => leaf.view.file?.path === path)?.view;
  }

  get panes() {
    return this.leaves.map(({ view: { file, shown, renders } }) => ({ path: file.path, text: shown, renders }));
  }
}
