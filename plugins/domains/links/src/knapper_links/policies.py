"""Which links of a hub go: one policy each, over what is known of the links and of the files they lead to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from knapper import Context, ToolError
from knapper.jsonlogic import Rule
from knapper.vault.resolve import Resolver, link_key, normal
from knapper_links.hub import Hub, Placed

Kind = Literal[
    "drop_below_score",
    "keep_top_n",
    "drop_unannotated_list_items",
    "drop_no_prose_context",
    "drop_unresolved",
    "drop_duplicates",
    "jsonlogic",
]
COUNTS = ("target_backlink_count", "target_outgoing_count")


class Policy(msgspec.Struct, forbid_unknown_fields=True):
    kind: Kind
    score_field: Annotated[
        str | None,
        msgspec.Meta(description="A property of the target, or target_backlink_count (the default)."),
    ] = None
    threshold: float | None = None
    n: Annotated[int, msgspec.Meta(ge=0)] | None = None
    min_annotation_chars: Annotated[int, msgspec.Meta(ge=1)] = 1
    min_prose_chars: Annotated[int, msgspec.Meta(ge=1)] = 1
    logic: Annotated[Any, msgspec.Meta(description="Links for which this JsonLogic rule holds go.")] = None


class Choice(NamedTuple):
    """A link that a policy would remove, and why."""

    placed: Placed
    reason: str


class Judge:
    """What the policies know of the hub's links and of the files they lead to."""

    def __init__(self, ctx: Context, path: str, hub: Hub) -> None:
        self._ctx = ctx
        self._path = path
        self.links = hub.links
        self._facts: dict[str, dict[str, int]] = {}

    @cached_property
    def _files(self) -> Resolver:
        return Resolver(self._ctx.index.named({link_key(one.link.path) for one in self.links}))

    def file(self, one: Placed) -> str | None:
        """The file a link leads to, whoever may read it: what is there is never called unresolved."""
        return self._files.resolve(one.link.path, self._path)

    def target(self, one: Placed) -> str | None:
        """The file a link leads to, if this caller may know of it."""
        file = self.file(one)
        return file if file is not None and self._ctx.index.readable(file) else None

    def counts(self, one: Placed) -> dict[str, int]:
        target = self.target(one)
        if target is None:
            return dict.fromkeys(COUNTS, 0)
        if target not in self._facts:
            index = self._ctx.index
            found = len(index.referring(target)), len(index.outgoing(target))
            self._facts[target] = dict(zip(COUNTS, found, strict=True))
        return self._facts[target]

    def score(self, one: Placed, field: str | None) -> float | None:
        """A link's score; None where its target has none, which is neither high nor low."""
        if field is None or field in COUNTS:
            return self.counts(one)[field or COUNTS[0]]
        target = self.target(one)
        row = self._ctx.index.file(target) if target is not None else None
        values = {str(key).casefold(): value for key, value in (row.properties if row else {}).items()}
        value = values.get(field.casefold())
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def facts(self, one: Placed) -> dict[str, Any]:
        """What a JsonLogic rule sees of a link."""
        return {
            "target": one.link.target,
            "line": one.line,
            "col": one.col,
            "in_list_item": one.item is not None,
            "list_item_text": one.item_text,
            "prose_context": one.prose,
            "target_path": self.target(one),
            **self.counts(one),
        }


def chosen(judge: Judge, policy: Policy) -> Iterator[Choice]:
    """The links that a policy removes, those first that should go first."""
    if policy.kind == "drop_below_score":
        return _below_score(judge, policy.score_field, _needed(policy, policy.threshold, "threshold"))
    if policy.kind == "keep_top_n":
        return _not_top(judge, policy.score_field, int(_needed(policy, policy.n, "n")))
    if policy.kind == "jsonlogic":
        return _by_rule(judge, policy.logic)
    if policy.kind == "drop_unresolved":
        return (Choice(one, "it leads to no file") for one in judge.links if judge.file(one) is None)
    if policy.kind == "drop_duplicates":
        return _duplicates(judge)
    if policy.kind == "drop_no_prose_context":
        return _short(judge.links, policy.min_prose_chars, "prose")
    items = [one for one in judge.links if one.item is not None]
    return _short(items, policy.min_annotation_chars, "annotation")


def _needed(policy: Policy, value: float | None, name: str) -> float:
    if value is None:
        raise ToolError("invalid_input", f"the policy {policy.kind} needs {name}", field=f"policy.{name}")
    return value


def _below_score(judge: Judge, field: str | None, threshold: float) -> Iterator[Choice]:
    scored = [(score, one) for one in judge.links if (score := judge.score(one, field)) is not None]
    for score, one in sorted(scored, key=lambda pair: pair[0]):
        if score < threshold:
            yield Choice(one, f"its score {score:g} is below {threshold:g}")


def _not_top(judge: Judge, field: str | None, n: int) -> Iterator[Choice]:
    """All but the best, the worst first; without a score a link ranks last, and of equals the first stays."""
    scores = [judge.score(one, field) for one in judge.links]
    ranked = sorted(
        zip(scores, judge.links, strict=True),
        key=lambda pair: (pair[0] is None, -(pair[0] or 0), pair[1].link.start),
    )
    for rank, (_, one) in reversed(list(enumerate(ranked, 1))):
        if rank > n:
            yield Choice(one, f"it ranks {rank} of {len(ranked)}, {n} are kept")


def _by_rule(judge: Judge, logic: Any) -> Iterator[Choice]:
    if logic is None:
        raise ToolError("invalid_input", "the policy jsonlogic needs logic", field="policy.logic")
    rule = Rule(logic)
    return (Choice(one, "the rule holds for it") for one in judge.links if rule.holds(judge.facts(one)))


def _duplicates(judge: Judge) -> Iterator[Choice]:
    seen: dict[tuple[str, str, bool], int] = {}
    for one in judge.links:
        name = judge.file(one) or normal(one.link.path)
        key = (name, normal(one.link.subpath), one.link.embed)
        if key in seen:
            yield Choice(one, f"it is already on line {seen[key]}")
        seen.setdefault(key, one.line)


def _short(placed: list[Placed], least: int, what: str) -> Iterator[Choice]:
    for one in placed:
        if len(one.prose) < least:
            yield Choice(one, f"it has {len(one.prose)} characters of {what} beside it, {least} are wanted")
