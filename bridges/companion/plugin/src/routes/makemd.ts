/** make.md: its spaces and the rows of one. It has no published interface; where it keeps them otherwise, it cannot be asked. */

import type { Body } from "../body";
import { part, unreachable } from "../capabilities";
import { post, Refusal } from "../envelope";
import { type Host, isRecord, member } from "../host";

export const makemd = [post("/makemd/spaces", spaces), post("/makemd/query", query)];

const MOST = 1000;
const USUAL = 50;
/** The column that names the note of a row. */
const FILE = "File";

function spaces(_: Body, host: Host): unknown {
  const found = [...index(host, "spacesIndex")].map(([path, space]) => ({
    id: path,
    name: nameOf(path, space),
    path,
    view_count: views(index(host, "contextsIndex").get(path)),
  }));
  return { spaces: found };
}

function query(body: Body, host: Host): unknown {
  const id = body.text("space_id");
  const limit = body.count("limit", MOST, USUAL);
  const start = Number(body.optionalText("cursor") ?? "0");
  if (!Number.isInteger(start) || start < 0) {
    throw new Refusal("invalid_input", "cursor is not one of ours", { field: "cursor" });
  }
  if (body.raw("filter") !== undefined || body.raw("sort") !== undefined) {
    throw unreachable("make-md", "has no interface for filters and orders; use engine native");
  }
  if (!index(host, "spacesIndex").has(id)) throw new Refusal("invalid_input", `${id} is no space`, { space_id: id });
  const rows = rowsOf(index(host, "contextsIndex").get(id));
  const items = rows.slice(start, start + limit).map(({ [FILE]: path, ...columns }) => ({ note_path: path, columns }));
  const more = start + limit < rows.length ? { cursor: String(start + limit) } : {};
  return { items, total: rows.length, ...more };
}

function index(host: Host, name: string): Map<string, unknown> {
  const found = member(part<object>(host, "make-md", "superstate", []), name);
  if (found instanceof Map) return found as Map<string, unknown>;
  throw unreachable("make-md", `has no ${name} in this version`);
}

function nameOf(path: string, space: unknown): string {
  const name = member(space, "name");
  return typeof name === "string" && name !== "" ? name : (path.split("/").pop() ?? path);
}

function views(context: unknown): number {
  const schemas = member(context, "schemas");
  return Array.isArray(schemas) ? schemas.filter((schema) => member(schema, "type") !== "db").length : 0;
}

function rowsOf(context: unknown): Record<string, unknown>[] {
  const rows = member(member(context, "contextTable"), "rows");
  return Array.isArray(rows) ? rows.filter((row) => isRecord(row) && typeof row[FILE] === "string") : [];
}
