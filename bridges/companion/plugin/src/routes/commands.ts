/** The command palette. */

import type { Body } from "../body";
import { post, Refusal } from "../envelope";
import { now } from "../files";
import type { Host, KnownCommand } from "../host";

export const commands = [post("/commands/list", list), post("/commands/execute", execute)];

function list(body: Body, host: Host): unknown {
  const filter = body.optionalText("filter")?.toLowerCase() ?? "";
  const matches = (text: string) => text.toLowerCase().includes(filter);
  const items = host.commands
    .listCommands()
    .filter(({ id, name }) => matches(id) || matches(name))
    .map(({ id, name }) => ({ id, name }));
  return { items, total: items.length };
}

function execute(body: Body, host: Host): unknown {
  const id = body.text("command_id");
  if (find(host, id) === undefined) throw refused(id, "is no command of this vault");
  if (!host.commands.executeCommandById(id)) throw refused(id, "cannot be run as things stand in the app");
  return { command_id: id, fired_at: now() };
}

/** The list leaves out what cannot be run now; looking one up does not. */
function find(host: Host, id: string): KnownCommand | undefined {
  return host.commands.findCommand?.(id) ?? host.commands.listCommands().find((command) => command.id === id);
}

function refused(id: string, problem: string): Refusal {
  return new Refusal("invalid_input", `${id} ${problem}`, { command_id: id });
}
