/** Tasks: the plugin offers no way to run a query from outside, which is what the route says. */

import type { Body } from "../body";
import { running, unreachable } from "../capabilities";
import { post } from "../envelope";
import type { Host } from "../host";

export const tasks = [post("/tasks/filter", filter)];

function filter(body: Body, host: Host): never {
  body.text("filter");
  running(host, "tasks");
  throw unreachable("tasks", "has no interface for queries; use engine native");
}
