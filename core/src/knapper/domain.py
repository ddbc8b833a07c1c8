"""Domains: a set of tools and all that they need, handed to the core by one hook."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from knapper import schema
from knapper.errors import PluginError, Refusal
from knapper.params import Signature
from knapper.store.migrations import Migration

if TYPE_CHECKING:
    import msgspec
    from pydantic import BaseModel

    from knapper.caller import Caller
    from knapper.context import Context
    from knapper.server.view import ServerView

    FindVault = Callable[[ServerView, Caller, str | None], str | None]

F = TypeVar("F", bound=Callable[..., Any])
Rate = Literal["read", "write", "delete", "bulk", "execute", "admin"]
Repeat = Literal["pure", "natural", "keyed", "once"]
NAME = re.compile(r"[a-z][a-z0-9_]{1,63}")
MUTATING = frozenset({"write", "delete", "bulk", "execute"})
RATES: tuple[Rate, ...] = ("bulk", "execute", "admin", "delete", "write", "read")


def _rate(families: frozenset[str]) -> Rate:
    for rate in RATES:
        if rate in families:
            return rate
    return "read"


class Tool:
    """One tool: a plain function and the policy under which it is called."""

    def __init__(
        self,
        fn: Callable[..., Any],
        domain: Domain,
        scopes: tuple[str, ...],
        *,
        rate: Rate | None = None,
        destructive: bool = False,
        confirm: str = "",
        repeat: Repeat | None = None,
        keyed: bool = False,
        vault: bool = True,
        precheck: Callable[..., None] | None = None,
        preview: Callable[..., tuple[dict[str, Any], str]] | None = None,
        reach: str = "",
        words: str = "",
        tags: Sequence[str] = (),
        name: str = "",
        home: str = "",
    ) -> None:
        self.fn = fn
        self.name = name or fn.__name__
        self.home = home  # the vault it belongs to, where it is not for all of them
        self.domain = domain
        self.scopes = scopes
        self.families = frozenset(scope.partition(":")[0] for scope in scopes)
        self.rate: Rate = rate or _rate(self.families)
        self.destructive = destructive
        self.confirm = confirm
        self.mutating = destructive or bool(self.families & MUTATING)
        self.repeat: Repeat = repeat or ("natural" if self.mutating else "pure")
        self.keyed = keyed or self.repeat == "keyed"
        self.vault = vault
        self.precheck = precheck
        self.preview = preview
        self.reach = reach
        self.words = words
        self.tags = frozenset(tags)
        self.title = self.name.replace("_", " ").capitalize()
        self.description = inspect.cleandoc(fn.__doc__ or "")

    @cached_property
    def signature(self) -> Signature:
        return Signature(self.fn, vault=self.vault, keyed=self.keyed)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return schema.of_parameters(self.signature.model)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        return schema.of_result(self.signature.returns, self.signature.terse.values())

    @cached_property
    def is_routed(self) -> bool:
        """Whether clients are to repeat some of its arguments in headers; nearly no tool wants that."""
        return "x-mcp-header" in str(self.input_schema)

    @cached_property
    def wraps(self) -> bool:
        """Whether the result is not an object and is sent as `{"result": …}`."""
        return not schema.is_object(self.signature.returns)

    @property
    def annotations(self) -> dict[str, Any]:
        """MCP hints, each derived from what the gates enforce."""
        return {
            "readOnlyHint": not self.mutating,
            "destructiveHint": self.mutating and self.asks,
            "idempotentHint": self.repeat in ("natural", "pure"),
            "openWorldHint": False,
        }

    @property
    def asks(self) -> bool:
        """Whether a person may be asked before it acts: always, or on its own condition."""
        from knapper.dispatch.confirm import has_floor

        return has_floor(self) or bool(self.confirm)

    def __repr__(self) -> str:
        return f"<tool {self.name} of {self.domain.slug}>"


class Extractor(NamedTuple):
    """Rows that a domain derives from each note; they live in index.db beside the core's."""

    name: str
    row: type[msgspec.Struct]
    fn: Callable[..., Iterable[Any]]
    version: int


class TextSource(NamedTuple):
    """What a domain knows of the text of files that are not notes."""

    domain: str
    extensions: frozenset[str]
    fn: Callable[..., Iterable[FileText]]


class FileText(NamedTuple):
    """The text of a file that is not a note, page by page, and the hash of the content it is the text of."""

    path: str
    hash: str
    pages: Sequence[str]


class Job(NamedTuple):
    """Work done every so often, by one process at a time."""

    name: str
    every_seconds: float
    fn: Callable[..., Any]


class Gauge(NamedTuple):
    """A number of a vault that is measured when somebody looks at the metrics."""

    name: str
    help: str
    fn: Callable[..., float]


class Prompt(NamedTuple):
    """A prompt that clients can offer; its parameters are strings."""

    name: str
    description: str
    parameters: tuple[tuple[str, bool, str], ...]  # name, required, description
    fn: Callable[..., Any]
    domain: Domain
    takes_context: bool


class Resource(NamedTuple):
    """Something that clients can read under an address of its own; `{name}` in it stands for one segment."""

    uri: str
    name: str
    description: str
    mime: str
    scopes: tuple[str, ...]
    fn: Callable[..., str | bytes]
    domain: Domain


class Domain:
    """What a plugin hands over: tools, and with them settings, tables, extractors, texts, jobs, prompts and services."""

    def __init__(
        self,
        slug: str,
        *,
        summary: str,
        group: str | None = None,
        settings: type[BaseModel] | None = None,
        tables: Sequence[Migration] = (),
        exempt: Iterable[str] = (),
        may_read: str = "",
        refusals: Mapping[str, Refusal] | None = None,
        find_vault: FindVault | None = None,
        limit: Callable[[Any, Tool], float] | None = None,
    ) -> None:
        """`exempt` names hidden files by their exact paths that its tools use like others, within the folder rules;
        `may_read` is a pattern for the whole paths of those that they only read.

        `refusals` publishes errors of its tools as a contract of its own does; under `*` all others.

        `find_vault` says which vault a caller means, where it is not an id. `limit` gets the domain's settings and
        a tool, and says how many seconds it may work.
        """
        if not NAME.fullmatch(slug):
            raise PluginError(f"domain slug {slug!r} is not lower-case letters, digits and underscores")
        self.slug = slug
        self.summary = summary
        self.group = group or slug
        self.settings = settings
        self.tables = tuple(tables)
        self.exempt = frozenset(exempt)
        self.may_read = re.compile(may_read) if may_read else None
        self.refusals = refusals or {}
        self.find_vault = find_vault
        self.limit = limit
        self.tools: dict[str, Tool] = {}
        self.extractors: list[Extractor] = []
        self.text_sources: list[TextSource] = []
        self.jobs: list[Job] = []
        self.gauges: list[Gauge] = []
        self.prompts: list[Prompt] = []
        self.resources: list[Resource] = []
        self.services: dict[str, Callable[..., Any]] = {}

    def tool(
        self,
        *scopes: str,
        rate: Rate | None = None,
        destructive: bool = False,
        confirm: str = "",
        repeat: Repeat | None = None,
        keyed: bool = False,
        vault: bool = True,
        precheck: Callable[[Context, Any], None] | None = None,
        preview: Callable[[Context, Any], tuple[dict[str, Any], str]] | None = None,
        reach: str = "",
        words: str = "",
        tags: Sequence[str] = (),
    ) -> Callable[[F], F]:
        """Register a function as a tool under these scopes, and return it unchanged.

        `destructive` asks a person on every call; `confirm` says when `ctx.confirm` asks. `repeat` says what a
        second call does: nothing (pure), the same again (natural), nothing with the same key (keyed), once more (once).
        `keyed` lets a natural tool take a key too. `precheck` refuses before a key or a confirmation is used up.
        `preview` says what a person is shown besides the arguments where every call asks: facts, and a diff.
        `reach` says what a call changes or reads beyond the paths among its parameters. `words` are those that people
        use who want this tool and that its own text lacks: they are looked at where tools are looked for, and nowhere shown.
        """

        def register(fn: F) -> F:
            self._add(
                Tool(
                    fn,
                    self,
                    scopes,
                    rate=rate,
                    destructive=destructive,
                    confirm=confirm,
                    repeat=repeat,
                    keyed=keyed,
                    vault=vault,
                    precheck=precheck,
                    preview=preview,
                    reach=reach,
                    words=words,
                    tags=tags,
                )
            )
            return fn

        return register

    def extract(self, row: type[msgspec.Struct], *, version: int = 1) -> Callable[[F], F]:
        """Register a function from a parsed note to rows of this type; raise `version` when its answers change."""

        def register(fn: F) -> F:
            self.extractors.append(Extractor(f"{self.slug}_{fn.__name__}", row, fn, version))
            return fn

        return register

    def texts(self, *extensions: str) -> Callable[[F], F]:
        """Register a function that gives the index the text of files that are not notes, so that search finds it.

        It gets the domain's tables, the vault's id, and files with one of these extensions, each with path, size and
        hash(); it answers with a FileText for each it knows, from what it has kept: this is no place to read files.
        Where it has learnt a text, a tool says so with `ctx.index.renew_texts(paths)`.
        """

        def register(fn: F) -> F:
            wanted = frozenset(extension.lower().lstrip(".") for extension in extensions)
            self.text_sources.append(TextSource(self.slug, wanted, fn))
            return fn

        return register

    def job(self, *, every_seconds: float) -> Callable[[F], F]:
        """Register a function to be run every so often, by one process at a time."""

        def register(fn: F) -> F:
            self.jobs.append(Job(f"{self.slug}.{fn.__name__}", every_seconds, fn))
            return fn

        return register

    def gauge(self, fn: F) -> F:
        """Register a function from the domain's tables and a vault's id to a number, which is a metric of that name."""
        self.gauges.append(Gauge(fn.__name__, inspect.cleandoc(fn.__doc__ or ""), fn))
        return fn

    def prompt(self, **parameters: str) -> Callable[[F], F]:
        """Register a function that returns a prompt's text, or a list of texts and attachments.

        Keyword arguments describe its parameters. A first parameter `ctx` gets the context of the request.
        """

        def register(fn: F) -> F:
            declared = list(inspect.signature(fn).parameters.values())
            context = bool(declared) and declared[0].name == "ctx"
            described = tuple(
                (p.name, p.default is p.empty, parameters.get(p.name, "")) for p in declared[int(context) :]
            )
            text = inspect.cleandoc(fn.__doc__ or "")
            self.prompts.append(Prompt(fn.__name__, text, described, fn, self, context))
            return fn

        return register

    def resource(self, uri: str, *scopes: str, mime: str = "text/plain") -> Callable[[F], F]:
        """Register a function from the context, and what `{name}`s in the address stand for, to text or bytes."""

        def register(fn: F) -> F:
            text = inspect.cleandoc(fn.__doc__ or "")
            self.resources.append(Resource(uri, fn.__name__, text, mime, scopes, fn, self))
            return fn

        return register

    def refusal(self, code: str) -> Refusal | None:
        """How an error of this domain's tools goes out, where not as every other."""
        return self.refusals.get(code) or self.refusals.get("*")

    def service(self, name: str) -> Callable[[F], F]:
        """Offer a function to other domains under a name, which they ask for with `ctx.service(name)`."""

        def register(fn: F) -> F:
            self.services[name] = fn
            return fn

        return register

    def check(self, tool: Tool) -> None:
        """PluginError unless clients can be shown this tool."""
        if not NAME.fullmatch(tool.name):
            raise PluginError(f"tool name {tool.name!r} of domain {self.slug!r} is not snake_case")
        if not tool.description:
            raise PluginError(f"tool {tool.name!r} of domain {self.slug!r} has no docstring; models read it")

    def _add(self, tool: Tool) -> None:
        self.check(tool)
        if tool.name in self.tools:
            raise PluginError(f"domain {self.slug!r} has two tools named {tool.name!r}")
        self.tools[tool.name] = tool

    def __repr__(self) -> str:
        return f"<domain {self.slug}>"
