/** Answers: {ok, result} or {ok, code, message, details}, with status 200 for everything that was handled. */

import { Body } from "./body";
import type { Host } from "./host";

export type Details = Record<string, unknown>;
export type Handler = (body: Body, host: Host) => unknown;

/** One endpoint, below the common prefix. */
export interface Route {
  method: "get" | "post";
  path: string;
  handle: Handler;
}

/** A failure with a code that the server knows what to do about. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly details?: Details,
  ) {
    super(message);
  }
}

export const post = (path: string, handle: Handler): Route => ({ method: "post", path, handle });

/** The answer to one request, as JSON; it never throws. */
export async function answer(handle: Handler, raw: unknown, host: Host): Promise<string> {
  try {
    return JSON.stringify({ ok: true, result: await handle(new Body(raw), host) });
  } catch (error) {
    return JSON.stringify(failure(error));
  }
}

export function failure(error: unknown): Details {
  if (error instanceof Refusal) {
    const { code, message, details } = error;
    return { ok: false, code, message, ...(details ? { details } : {}) };
  }
  return { ok: false, code: "bridge_error", message: messageOf(error) };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
