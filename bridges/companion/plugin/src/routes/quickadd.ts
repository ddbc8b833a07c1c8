/** QuickAdd: its choices, and running one. */

import type { Body } from "../body";
import { part, running } from "../capabilities";
import { post, Refusal } from "../envelope";
import { now } from "../files";
import { type Host, isRecord, member } from "../host";

export const quickadd = [post("/quickadd/actions", actions), post("/quickadd/trigger", trigger)];

interface Action {
  name: string;
  type: string;
}

interface QuickAdd {
  executeChoice(name: string, variables: Record<string, unknown>): Promise<unknown>;
}

function actions(_: Body, host: Host): unknown {
  return { items: choicesOf(host) };
}

async function trigger(body: Body, host: Host): Promise<unknown> {
  const name = body.text("action_name");
  const args = body.object("args");
  const engine = part<QuickAdd>(host, "quickadd", "api", ["executeChoice"]);
  const action = choicesOf(host).find((choice) => choice.name === name);
  if (action === undefined) throw refused(name, "is no choice of QuickAdd");
  if (action.type === "multi") throw refused(name, "only asks which; name one of the choices inside of it");
  await engine.executeChoice(name, args);
  return { action_name: name, fired_at: now() };
}

/** All choices, those inside of multis after their multi. */
function choicesOf(host: Host): Action[] {
  return [...walk(member(member(running(host, "quickadd"), "settings"), "choices"))];
}

function* walk(choices: unknown): Generator<Action> {
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (!isRecord(choice) || typeof choice["name"] !== "string") continue;
    yield { name: choice["name"], type: String(choice["type"] ?? "").toLowerCase() };
    yield* walk(choice["choices"]);
  }
}

function refused(name: string, problem: string): Refusal {
  return new Refusal("invalid_input", `${name} ${problem}`, { action_name: name });
}
