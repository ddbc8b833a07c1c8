"""What tools/list shows: three tools to find and call the rest, one a domain, or every tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from knapper.context import Context
from knapper.dispatch.call import Call, Outcome
from knapper.dispatch.canonical import args_hash
from knapper.dispatch.lookup import unknown
from knapper.dispatch.pipeline import GATES, run
from knapper.dispatch.visibility import disabled, verdict
from knapper.domain import Domain, Tool
from knapper.errors import ToolError
from knapper.page import Record
from knapper.params import Doc
from knapper.server.ranking import Ranking
from knapper.server.wire import ENCODER

if TYPE_CHECKING:
    from knapper.caller import Caller
    from knapper.runtime import Runtime

triad = Domain("triad", summary="Find, look up and call every tool of the server.")


class Match(Record):
    """A tool that may do what was asked for."""

    name: str
    summary: str
    score: float


class Matches(Record):
    """The best matches first."""

    matches: list[Match]


class Hints(Record, omit_defaults=False):
    """What a tool may do to the vault."""

    read_only: bool
    destructive: bool


class Capability(Record, omit_defaults=False):
    """All that is needed to call a tool."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    required_scopes: list[str]
    annotations: Hints


@triad.tool(vault=False)
def find_capability(
    ctx: Context,
    query: Annotated[str, Doc("What you want to do, in plain words.", min_length=1)],
    limit: Annotated[int, Doc("At most this many.", ge=1, le=50)] = 10,
) -> Matches:
    """Find tools by what you want to do. Then call_capability, or describe_capability for the arguments."""
    ranking = Ranking.of(tuple(ctx.server.listed(ctx.caller)))
    found = ranking.best(query, limit)
    return Matches(matches=[Match(name=t.name, summary=summary(t), score=round(s, 3)) for t, s in found])


@triad.tool(vault=False)
def describe_capability(ctx: Context, name: Annotated[str, Doc("A tool's name.")]) -> Capability:
    """Show a tool's arguments and what it returns."""
    visible = {tool.name: tool for tool in ctx.server.listed(ctx.caller)}
    tool = visible.get(name)
    if tool is None:
        raise unknown(name, visible)
    return Capability(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        required_scopes=list(tool.scopes),
        annotations=Hints(read_only=not tool.mutating, destructive=tool.annotations["destructiveHint"]),
    )


@triad.tool("write:capability", vault=False, confirm="where the tool it calls asks", repeat="once")
def call_capability(
    ctx: Context,
    name: Annotated[str, Doc("A tool's name.")],
    args: Annotated[dict[str, Any], Doc("Its arguments.")] = {},  # noqa: B006 (msgspec copies it)
) -> Any:
    """Call a tool by name."""
    raise AssertionError("the called tool runs in its place")


def _find(call: Call) -> None:
    call.tool = triad.tools[call.name]
    call.rate = call.tool.rate


TRIAD_GATES = tuple(_find if gate.__name__ == "find" else gate for gate in GATES)


def summary(tool: Tool) -> str:
    """The first sentence of a tool's description."""
    line = tool.description.partition("\n")[0]
    first, dot, _ = line.partition(". ")
    return (first + dot.strip())[:160]


def listed(runtime: Runtime, caller: Caller | None) -> list[Tool]:
    """The tools that this caller is shown, by name."""
    rules = runtime.settings.tool_visibility
    read_only = runtime.vaults.get(caller.vault if caller else None).acl.read_only
    tools = runtime.tools.values()
    return sorted(
        (t for t in tools if verdict(t, rules, caller, read_only=read_only) == "listed"), key=lambda t: t.name
    )


def items(runtime: Runtime, caller: Caller | None) -> list[bytes]:
    """The entries of tools/list, encoded."""
    tools = listed(runtime, caller)
    mode = runtime.settings.tool_facade.mode
    if mode == "triad":
        entries = [_triad_item(tool) for tool in triad.tools.values()]
    elif mode == "domain":
        entries = [_domain_item(name, group) for name, group in _groups(tools, runtime.tools).items()]
    else:
        entries = [item(tool) for tool in tools]
    return [ENCODER.encode(entry) for entry in entries]


def item(tool: Tool) -> dict[str, Any]:
    """A tool as tools/list shows it."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": _slim(tool.output_schema),
        "annotations": tool.annotations,
    }


def _slim(schema: Any) -> Any:
    """An output schema without its prose: it validates the same, and every conversation carries it."""
    if isinstance(schema, list):
        return [_slim(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    slim = {
        name: _slim(value)
        for name, value in schema.items()
        if name not in ("description", "default", "properties")
    }
    if "properties" in schema:
        slim["properties"] = {name: _slim(value) for name, value in schema["properties"].items()}
    return slim


def _triad_item(tool: Tool) -> dict[str, Any]:
    """Without the output schema: these three are in the context of every conversation."""
    entry = item(tool)
    del entry["outputSchema"]
    return entry


def _groups(tools: list[Tool], taken: Any) -> dict[str, list[Tool]]:
    groups: dict[str, list[Tool]] = {}
    for tool in tools:
        name = tool.domain.group
        groups.setdefault(f"{name}_tools" if name in taken else name, []).append(tool)
    return dict(sorted(groups.items()))


def _domain_item(name: str, tools: list[Tool]) -> dict[str, Any]:
    actions = "\n".join(f"- {tool.name}: {summary(tool)}" for tool in tools)
    about = " ".join(dict.fromkeys(tool.domain.summary for tool in tools))
    mutating = any(tool.mutating for tool in tools)
    hints = {
        "readOnlyHint": not mutating,
        "destructiveHint": any(tool.annotations["destructiveHint"] for tool in tools),
        "openWorldHint": False,
    }
    return {
        "name": name,
        "title": name.replace("_", " ").capitalize(),
        "description": f"{about}\n{actions}",
        "inputSchema": {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": [tool.name for tool in tools]},
                "args": {"type": "object", "description": "The action's arguments."},
            },
            "required": ["action"],
            "additionalProperties": False,
        },
        "annotations": hints,
    }


@dataclass(frozen=True)
class Target:
    """The tool that a call means, under the gates that it goes through."""

    runtime: Runtime
    name: str
    arguments: dict[str, Any]
    gates: tuple[Callable[[Call], None], ...] = GATES

    @cached_property
    def args_hash(self) -> str:
        return args_hash(self.name, self.arguments)

    def call(self, caller: Caller, **how: Any) -> Outcome:
        return run(Call(self.runtime, self.name, self.arguments, caller, self.args_hash, **how), self.gates)


def target(runtime: Runtime, name: str, raw: dict[str, Any], caller: Caller) -> Target:
    """What is called: a tool by its name, or the one that the facade's own tools name inside."""
    if name in runtime.tools:
        return Target(runtime, name, raw)
    if name in triad.tools:
        return _through_triad(runtime, name, raw)
    if runtime.settings.tool_facade.mode == "domain":
        group = _groups(listed(runtime, caller), runtime.tools).get(name)
        if group is not None:
            return _through_domain(runtime, name, raw, group)
    return Target(runtime, name, raw)


def knows(runtime: Runtime, name: str, caller: Caller) -> bool:
    """Whether a name can be called: a tool that is not disabled, or one of the facade's own."""
    tool = runtime.tools.get(name)
    if tool is not None:
        return not disabled(tool, runtime.settings.tool_visibility)
    grouped = runtime.settings.tool_facade.mode == "domain"
    return name in triad.tools or (grouped and name in _groups(listed(runtime, caller), runtime.tools))


def _through_triad(runtime: Runtime, name: str, raw: dict[str, Any]) -> Target:
    if name == "call_capability":
        try:
            inner = triad.tools[name].signature.parse(raw)
            return Target(runtime, inner.name, inner.args)
        except ToolError:
            pass  # the gates refuse it by the same check, and record it
    return Target(runtime, name, raw, TRIAD_GATES)


def _through_domain(runtime: Runtime, name: str, raw: dict[str, Any], group: list[Tool]) -> Target:
    actions = [tool.name for tool in group]
    issues = [{"field": key, "message": "is not a parameter"} for key in raw if key not in ("action", "args")]
    if raw.get("action") not in actions:
        issues.append({"field": "action", "message": f"must be one of {', '.join(actions)}"})
    if not isinstance(raw.get("args", {}), dict):
        issues.append({"field": "args", "message": "must be an object"})
    if not issues:
        return Target(runtime, raw["action"], raw.get("args", {}))
    text = "; ".join(f"{i['field']}: {i['message']}" for i in issues)

    def refuse(_: Call) -> None:
        raise ToolError("validation_error", text, issues=issues)

    return Target(runtime, name, raw, (refuse,))
