/** Dataview: its queries and expressions, evaluated by the plugin itself. */

import type { Body } from "../body";
import { part } from "../capabilities";
import { type Details, messageOf, post, Refusal } from "../envelope";
import { notFound } from "../files";
import { type Host, isRecord, member } from "../host";
import { isLink, kindOf, listOf, pairOf, plain } from "../values";

const KINDS = ["table", "list", "task", "calendar"] as const;
const TASK_HEADERS = ["text", "status", "path", "line"];

type Outcome = { successful: true; value: unknown } | { successful: false; error: unknown };

interface Dataview {
  query(dql: string): Promise<Outcome>;
  evaluate(expression: string, context: object, origin?: string): Outcome;
  page(path: string): unknown;
}

interface Rows {
  headers: string[];
  rows: unknown[][];
  note_paths: string[];
}

export const dataview = [
  post("/dataview/dql", dql),
  post("/dataview/validate", validate),
  post("/dataview/eval", evaluate),
];

async function dql(body: Body, host: Host): Promise<unknown> {
  const source = body.text("dql");
  const wanted = body.raw("format") === undefined ? null : body.choice("format", KINDS, "table");
  const result = await run(api(host), source);
  const kind = member(result, "type");
  if (wanted !== null && kind !== wanted) {
    throw new Refusal("dql_error", `the query is a ${String(kind).toUpperCase()}, not a ${wanted.toUpperCase()}`);
  }
  return rowsOf(result, source);
}

async function validate(body: Body, host: Host): Promise<unknown> {
  try {
    await run(api(host), body.text("dql"));
    return { valid: true };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "dql_error") throw error;
    return { valid: false, error: { message: error.message, ...error.details } };
  }
}

function evaluate(body: Body, host: Host): unknown {
  const expression = body.text("expression");
  const path = body.raw("path") === undefined ? undefined : body.path("path");
  const found = api(host).evaluate(expression, fieldsOf(host, path), path);
  if (!found.successful) throw mistake(found.error);
  return { value: plain(found.value), type: kindOf(found.value) };
}

function api(host: Host): Dataview {
  return part<Dataview>(host, "dataview", "api", ["query", "evaluate", "page"]);
}

async function run(dataview: Dataview, source: string): Promise<unknown> {
  const found = await dataview.query(source).catch((error: unknown) => ({ successful: false as const, error }));
  if (found.successful) return found.value;
  throw mistake(found.error);
}

/** A note's fields by their names, and the note itself as `this`. */
function fieldsOf(host: Host, path: string | undefined): object {
  if (path === undefined) return {};
  const page = api(host).page(path);
  if (!isRecord(page)) throw notFound(path);
  return { ...page, this: page };
}

function rowsOf(result: unknown, source: string): Rows {
  const values = listOf(member(result, "values"));
  switch (member(result, "type")) {
    case "table":
      return found(listOf(member(result, "headers")).map(String), values.map(listOf), named(result, source));
    case "list":
      return found([], values.map((value) => pairOf(value) ?? [value]), named(result, source));
    case "calendar":
      return found(["date", "note"], values.map((entry) => [member(entry, "date"), member(entry, "link")]), 1);
    case "task":
      return tasks(values);
    default:
      throw new Refusal("plugin_unreachable", "Dataview answered with a kind of result that is not known", {
        plugin: "dataview",
      });
  }
}

function found(headers: string[], rows: unknown[][], column: number | null): Rows {
  const links = column === null ? [] : rows.map((row) => row[column]).filter(isLink);
  const note_paths = [...new Set(links.map((link) => link.path))];
  return { headers, rows: rows.map((row) => row.map((cell) => plain(cell))), note_paths };
}

/** The column that names the note of each row; none where rows are groups, or the query leaves it out. */
function named(result: unknown, source: string): number | null {
  const meaning = member(result, "idMeaning") ?? member(result, "primaryMeaning");
  return member(meaning, "type") === "group" || /^\s*(table|list)\s+without\s+id\b/i.test(source) ? null : 0;
}

function tasks(entries: unknown[]): Rows {
  let depth = 0;
  for (let first = entries[0]; isGroup(first); first = listOf(first.rows)[0]) depth += 1;
  const numbered = Array.from({ length: depth }, (_, index) => `group ${index + 1}`);
  const rows = [...taskRows(entries, [])];
  const note_paths = [...new Set(rows.map((row) => String(row[depth + 2])))];
  return { headers: [...(depth === 1 ? ["group"] : numbered), ...TASK_HEADERS], rows, note_paths };
}

function isGroup(entry: unknown): entry is { key: unknown; rows: unknown } {
  return isRecord(entry) && "key" in entry && "rows" in entry;
}

function* taskRows(entries: unknown[], keys: unknown[]): Generator<unknown[]> {
  for (const entry of entries) {
    if (isGroup(entry)) yield* taskRows(listOf(entry.rows), [...keys, plain(entry.key)]);
    else yield [...keys, ...cells(entry)];
  }
}

/** Dataview counts lines from 0, the server from 1. */
function cells(task: unknown): unknown[] {
  const named = ["text", "status", "path"].map((name) => member(task, name));
  return [...named, Number(member(task, "line")) + 1];
}

/** What is wrong with a query, with its place where the parser drew one. */
function mistake(error: unknown): Refusal {
  const message = messageOf(error);
  const drawn = /^>\s*(\d+)\s*\|.*\n([^\n]*?\|)([^\n]*)\^/m.exec(message);
  if (!drawn) return new Refusal("dql_error", message);
  const place: Details = { line: Number(drawn[1]), col: Math.max(1, (drawn[3] ?? "").length) };
  return new Refusal("dql_error", message, place);
}
