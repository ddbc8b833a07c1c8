/** Text in pictures and PDFs, as Text Extractor reads it. */

import type { TFile } from "obsidian";
import type { Body } from "../body";
import { part } from "../capabilities";
import { messageOf, post, Refusal } from "../envelope";
import { fileAt } from "../files";
import type { Host } from "../host";

export const ocr = [post("/ocr/attachment", one), post("/ocr/bulk", many)];

const MOST_AT_ONCE = 4;
const USUALLY_AT_ONCE = 2;

interface Extractor {
  extractText(file: TFile): Promise<string>;
  canFileBeExtracted?(path: string): boolean;
  isInCache?(file: TFile): Promise<boolean>;
  removeFromCache?(file: TFile): Promise<unknown>;
}

interface Extracted {
  path: string;
  text: string;
  cached: boolean;
  duration_ms: number;
}

function one(body: Body, host: Host): Promise<Extracted> {
  const force = body.flag("force");
  return extract(host, extractor(host), body.path("path"), force);
}

async function many(body: Body, host: Host): Promise<unknown> {
  const paths = [...new Set(body.paths("paths"))];
  const force = body.flag("force");
  const atOnce = body.count("max_concurrent", MOST_AT_ONCE, USUALLY_AT_ONCE);
  const engine = extractor(host);
  const started = Date.now();
  const results = await inTurns(paths, atOnce, async (path) => {
    try {
      return { path, ok: true, text: (await extract(host, engine, path, force)).text };
    } catch (error) {
      return { path, ok: false, error: messageOf(error) };
    }
  });
  return { processed: results.length, results, total_duration_ms: Date.now() - started };
}

function extractor(host: Host): Extractor {
  return part<Extractor>(host, "text-extractor", "api", ["extractText"]);
}

async function extract(host: Host, engine: Extractor, path: string, force: boolean): Promise<Extracted> {
  const file = fileAt(host, path);
  if (engine.canFileBeExtracted?.(path) === false) {
    throw new Refusal("invalid_input", `${path} is of a kind that Text Extractor does not read`, { path });
  }
  const started = Date.now();
  if (force) await engine.removeFromCache?.(file);
  const cached = (await engine.isInCache?.(file)) ?? false;
  const text = await engine.extractText(file);
  return { path, text, cached, duration_ms: Date.now() - started };
}

/** The results in the order of the items, with at most so many at work. */
async function inTurns<T, R>(items: T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = [...items.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
