/** What a request asks for, read strictly: a field of the wrong type is invalid_input and named. */

import { normalizePath } from "obsidian";
import { Refusal } from "./envelope";
import { isRecord } from "./host";

export class Body {
  private readonly fields: Record<string, unknown>;

  constructor(raw: unknown) {
    const given = raw ?? {};
    if (!isRecord(given)) throw new Refusal("invalid_input", "the body has to be a JSON object");
    this.fields = given;
  }

  /** A field as it came; null counts as not given. */
  raw(name: string): unknown {
    return this.fields[name] ?? undefined;
  }

  text(name: string): string {
    const value = this.raw(name);
    if (typeof value !== "string" || value === "") throw wrong(name, "a text that is not empty");
    return value;
  }

  optionalText(name: string): string | undefined {
    return this.raw(name) === undefined ? undefined : this.text(name);
  }

  texts(name: string): string[] {
    const value = this.raw(name);
    const fits = Array.isArray(value) && value.length > 0;
    if (!fits || !value.every((item) => typeof item === "string" && item !== "")) {
      throw wrong(name, "a list of texts that is not empty");
    }
    return value as string[];
  }

  flag(name: string): boolean {
    const value = this.raw(name) ?? false;
    if (typeof value !== "boolean") throw wrong(name, "true or false");
    return value;
  }

  /** A whole number from 1 to `most`. */
  count(name: string, most: number, otherwise: number): number {
    const value = this.raw(name) ?? otherwise;
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > most) {
      throw wrong(name, `a whole number from 1 to ${most}`);
    }
    return value;
  }

  /** A list of objects; none where it is not given. */
  objects(name: string): Record<string, unknown>[] {
    const value = this.raw(name) ?? [];
    if (!Array.isArray(value) || !value.every(isRecord)) throw wrong(name, "a list of objects");
    return value;
  }

  choice<T extends string>(name: string, choices: readonly T[], otherwise: T): T {
    const value = this.raw(name) ?? otherwise;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw wrong(name, `one of ${choices.join(", ")}`);
    return found;
  }

  object(name: string): Record<string, unknown> {
    const value = this.raw(name) ?? {};
    if (!isRecord(value)) throw wrong(name, "an object");
    return value;
  }

  path(name: string): string {
    return vaultPath(this.text(name), name);
  }

  paths(name: string): string[] {
    return this.texts(name).map((path) => vaultPath(path, name));
  }
}

/** A path inside the vault, in Obsidian's spelling. */
export function vaultPath(path: string, field: string): string {
  const inside = !path.startsWith("/") && !path.includes("\\") && !path.includes("\0");
  if (!inside || path.split("/").some((part) => part === ".." || part === ".")) {
    throw wrong(field, "a path inside the vault");
  }
  return normalizePath(path);
}

function wrong(field: string, wanted: string): Refusal {
  return new Refusal("invalid_input", `${field} has to be ${wanted}`, { field });
}
