/** Dataview's values as JSON: ISO dates, durations in words, links as Markdown, as the server's own engine writes them. */

import { isRecord, member } from "./host";

const DEEPEST = 64;
const UNITS = ["years", "months", "weeks", "days", "hours", "minutes", "seconds", "milliseconds"];

interface Moment {
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  toISODate(): string;
  toISO(options: { suppressMilliseconds: boolean }): string;
}

interface Span {
  shiftToAll?(): Span;
  normalize(): Span;
  toObject(): Record<string, number>;
}

export interface Link {
  path: string;
  type?: string;
  markdown(): string;
}

export type Kind =
  | "null"
  | "boolean"
  | "number"
  | "string"
  | "date"
  | "duration"
  | "link"
  | "array"
  | "object"
  | "widget"
  | "html"
  | "function";

/** The name that Dataview has for a value's type. */
export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return "null";
  if (typeof value === "boolean" || typeof value === "number" || typeof value === "string") return typeof value as Kind;
  if (typeof value === "function") return "function";
  if (member(value, "isLuxonDateTime") === true) return "date";
  if (member(value, "isLuxonDuration") === true) return "duration";
  if (typeof member(value, "$widget") === "string") return "widget";
  if (isLink(value)) return "link";
  if (Array.isArray(value) || typeof member(value, "array") === "function") return "array";
  return typeof member(value, "outerHTML") === "string" ? "html" : "object";
}

export function isLink(value: unknown): value is Link {
  return typeof member(value, "path") === "string" && typeof member(value, "markdown") === "function";
}

export function plain(value: unknown, depth = 0): unknown {
  if (depth > DEEPEST) throw new Error("the value is nested too deeply");
  switch (kindOf(value)) {
    case "null":
      return null;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "date":
      return date(value as Moment);
    case "duration":
      return duration(value as Span);
    case "link":
      return (value as Link).markdown();
    case "array":
      return listOf(value).map((item) => plain(item, depth + 1));
    case "object":
      return Object.fromEntries(Object.entries(value as object).map(([key, item]) => [key, plain(item, depth + 1)]));
    case "widget":
      return widget(value, depth);
    case "html":
      return member(value, "textContent") ?? "";
    case "function":
      return "<function>";
    default:
      return value;
  }
}

/** An array, or Dataview's own kind of one. */
export function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  const found: unknown = isRecord(value) && typeof value["array"] === "function" ? value["array"]() : [];
  return Array.isArray(found) ? found : [];
}

/** The two sides of a list's row that has an id and a value. */
export function pairOf(value: unknown): [unknown, unknown] | null {
  if (member(value, "$widget") !== "dataview:list-pair") return null;
  return [member(value, "key"), member(value, "value")];
}

function widget(value: unknown, depth: number): unknown {
  const pair = pairOf(value);
  if (pair) return pair.map((side) => plain(side, depth + 1));
  const url = member(value, "url");
  return typeof url === "string" ? `[${String(member(value, "display") ?? url)}](${url})` : null;
}

function date(moment: Moment): string {
  const midnight = moment.hour + moment.minute + moment.second + moment.millisecond === 0;
  return midnight ? moment.toISODate() : moment.toISO({ suppressMilliseconds: true });
}

function duration(span: Span): string {
  const parts = (span.shiftToAll?.() ?? span).normalize().toObject();
  const counted = UNITS.flatMap((unit) => (parts[unit] ? [amount(parts[unit], unit)] : []));
  return counted.join(", ");
}

function amount(count: number, unit: string): string {
  const text = count.toLocaleString("en-US", { maximumFractionDigits: 3 });
  return `${text} ${text === "1" ? unit.slice(0, -1) : unit}`;
}
