"""What a tool's parameters may be annotated with, and how a signature becomes one validated value."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Literal, NamedTuple, Union

import msgspec

from knapper import typed
from knapper.dispatch.canonical import whole
from knapper.errors import ToolError
from knapper.page import Page, terse_fields
from knapper.touches import Access, Visit, accesses, structs, walker


class Doc:
    """A parameter's description, with the limits a client may rely on: `Doc("How many.", ge=1, le=50)`."""

    def __init__(self, text: str, **limits: Any) -> None:
        self.meta = msgspec.Meta(description=text, **limits)


class Alias:
    """Other names a parameter is accepted under, for clients that already use them."""

    def __init__(self, *names: str) -> None:
        self.names = names


ReadPath = Annotated[str, Access("read")]
WritePath = Annotated[str, Access("write")]
DeletePath = Annotated[str, Access("delete")]
NotePath = Annotated[str, Access("read", by_name=True, note=True)]
WriteNotePath = Annotated[str, Access("write", note=True)]
DeleteNotePath = Annotated[str, Access("delete", note=True)]

VAULT = Annotated[str | None, msgspec.Meta(description="Vault id; default vault if absent.")]
KEY = (
    Annotated[
        str,
        msgspec.Meta(
            min_length=1, max_length=128, description="The same call with the same key is done once."
        ),
    ]
    | None
)
PATH = msgspec.Meta(min_length=1, max_length=1024)
VERBOSITY = Literal["full", "terse"]
MOST_ISSUES, LONGEST_FIELD, LONGEST_ISSUE = 20, 64, 300
UNKNOWN = "is not a parameter"


class Parameter(NamedTuple):
    """One argument on the wire, and the Python parameter behind it."""

    wire: str
    python: str
    type: Any
    default: Any
    aliases: tuple[str, ...] = ()


class Signature:
    """A tool function's parameters as one msgspec model: what clients send, checked and typed."""

    def __init__(self, fn: Callable[..., Any], *, vault: bool, keyed: bool) -> None:
        hints = typing.get_type_hints(fn, include_extras=True)
        self.returns: Any = hints.pop("return", None)
        declared = list(inspect.signature(fn).parameters.values())[1:]
        self.page = next((p.name for p in declared if hints.get(p.name) is Page), None)
        self.parameters = [p for d in declared for p in _wire(d, hints)]
        self._own = [
            p.python for p in self.parameters if p.python not in ("limit", "cursor") or not self.page
        ]
        names = {p.wire for p in self.parameters}
        self.terse = {} if "verbosity" in names else terse_fields(self.returns)
        if self.terse:
            self.parameters.append(Parameter("verbosity", "verbosity", VERBOSITY, "full"))
        if vault and "vault" not in names:
            self.parameters.append(Parameter("vault", "vault", VAULT, None))
        if keyed and "idempotency_key" not in names:
            self.parameters.append(Parameter("idempotency_key", "idempotency_key", KEY, None))
        self.model = _model(fn.__name__, self.parameters)
        self._aliases = {a: p.wire for p in self.parameters for a in p.aliases}
        self._walks = [(p.python, walk) for p in self.parameters if (walk := walker(p.type)) is not None]

    def parse(self, raw: dict[str, Any]) -> Any:
        """The arguments as the model, or validation_error naming every field that does not fit."""
        if self._aliases and not self._aliases.keys().isdisjoint(raw):
            raw = self._by_own_names(raw)
        try:
            return typed.convert(raw, self.model)
        except msgspec.ValidationError:
            with suppress(msgspec.ValidationError, ValueError):
                return typed.convert(whole(raw), self.model)
            issues = self._issues(raw)
            text = "; ".join(f"{i['field']}: {i['message']}" for i in issues[:5])
            if any(issue["message"] == UNKNOWN for issue in issues):
                text += f"; it takes {', '.join(p.wire for p in self.parameters) or 'none'}"
            raise ToolError("validation_error", text, issues=issues) from None

    def _by_own_names(self, raw: dict[str, Any]) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for key, value in raw.items():
            name = self._aliases.get(key, key)
            if name in named:
                issue = {"field": key, "message": f"is {name!r} under another name; give one of them"}
                raise ToolError("validation_error", f"{key}: {issue['message']}", issues=[issue])
            named[name] = value
        return named

    def arguments(self, args: Any, bind: Callable[[], str]) -> dict[str, Any]:
        """Keyword arguments for the function itself."""
        kwargs = {name: getattr(args, name) for name in self._own}
        if self.page:
            kwargs[self.page] = Page(args.limit, args.cursor, bind)
        return kwargs

    @cached_property
    def accesses(self) -> set[Access]:
        """What the parameters' types say that a call can do to the vault."""
        return set().union(*(accesses(p.type) for p in self.parameters))

    @cached_property
    def models(self) -> set[type[msgspec.Struct]]:
        """Every record type among the parameters, however deep."""
        return set().union(*(structs(p.type) for p in self.parameters))

    def visit(self, args: Any, visit: Visit) -> None:
        """Show every vault path among the arguments to a visitor, and put what it returns in its place."""
        for name, walk in self._walks:
            setattr(args, name, walk(getattr(args, name), visit))

    def _issues(self, raw: dict[str, Any]) -> list[dict[str, str]]:
        from knapper.mismatch import told  # a server that is asked nothing wrong starts without it

        known = {p.wire: p for p in self.parameters}
        unknown = (key for key in raw if key not in known)
        issues = [_unknown(key, known) for key in islice(unknown, MOST_ISSUES)]
        for wire, parameter in known.items():
            if wire not in raw:
                if parameter.default is inspect.Parameter.empty:
                    issues.append({"field": wire, "message": "is required"})
                continue
            try:
                typed.convert(raw[wire], parameter.type)
            except msgspec.ValidationError as error:
                issues.append({"field": wire, "message": told(error, parameter.type)[:LONGEST_ISSUE]})
        return issues


def _unknown(key: str, known: dict[str, Any]) -> dict[str, str]:
    near = get_close_matches(key[:LONGEST_FIELD], known, n=1)
    return {
        "field": key[:LONGEST_FIELD],
        "message": f"{UNKNOWN}; did you mean {near[0]!r}?" if near else UNKNOWN,
    }


def _wire(declared: inspect.Parameter, hints: dict[str, Any]) -> Iterator[Parameter]:
    hint = hints.get(declared.name, Any)
    if hint is Page:
        default = declared.default.limit if isinstance(declared.default, Page) else Page().limit
        yield Parameter("limit", "limit", Annotated[int, msgspec.Meta(ge=1, le=1000)], default)
        yield Parameter(
            "cursor", "cursor", Annotated[str | None, msgspec.Meta(description="From the page before.")], None
        )
        return
    aliases: tuple[str, ...] = ()
    for extra in getattr(hint, "__metadata__", ()):
        if isinstance(extra, Alias):
            aliases = extra.names
    yield Parameter(declared.name.rstrip("_"), declared.name, resolve(hint), declared.default, aliases)


def resolve(hint: Any) -> Any:
    """The annotation with our marks turned into msgspec's, at any depth; path marks stay readable."""
    if typing.get_origin(hint) is Annotated:
        inner, *extras = typing.get_args(hint)
        metas = [e.meta if isinstance(e, Doc) else e for e in extras if not isinstance(e, Alias)]
        if any(isinstance(e, Access) for e in extras):
            metas.append(PATH)
        members = typing.get_args(inner) if typing.get_origin(inner) in (Union, types.UnionType) else ()
        if len(members) == 2 and type(None) in members:
            # msgspec takes limits on the member, and shows a description of the union alone.
            member: Any = Annotated[(resolve(next(m for m in members if m is not type(None))), *metas)] | None
            described = next((m.description for m in metas if isinstance(m, msgspec.Meta)), None)
            return Annotated[(member, msgspec.Meta(description=described))] if described else member
        return Annotated[(resolve(inner), *metas)]
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return Union[tuple(resolve(a) for a in args)]  # noqa: UP007 (made at run time)
    if origin in (list, tuple, set, frozenset, dict) and args:
        return origin[tuple(a if a is Ellipsis else resolve(a) for a in args)]
    return hint


def _model(name: str, parameters: list[Parameter]) -> Any:
    fields: list[Any] = []
    for p in parameters:
        if p.default is inspect.Parameter.empty:
            fields.append((p.python, p.type))
        elif isinstance(p.default, (list, dict)) and p.default:
            fields.append((p.python, p.type, msgspec.field(default_factory=p.default.copy)))
        else:
            fields.append((p.python, p.type, p.default))
    rename = {p.python: p.wire for p in parameters if p.python != p.wire}
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True, rename=rename)
