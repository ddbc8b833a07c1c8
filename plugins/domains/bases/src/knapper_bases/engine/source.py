"""Where a base gets its files from: the contract that a vault's index fulfils."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from knapper_bases.engine.plan import Narrowing


class LinkRef(NamedTuple):
    """A link as it stands in a file: its target text, what it shows, and the file that it leads to."""

    target: str
    display: str | None = None
    resolved: str | None = None


class Entry(Protocol):
    """One file of the vault; each attribute is asked for only when an expression needs it."""

    @property
    def path(self) -> str:
        """Give the path from the vault's root, with slashes."""

    @property
    def size(self) -> int:
        """Give the number of bytes."""

    @property
    def ctime(self) -> float:
        """Give the creation time in seconds since the epoch."""

    @property
    def mtime(self) -> float:
        """Give the modification time in seconds since the epoch."""

    @property
    def tags(self) -> Sequence[str]:
        """Give the tags of frontmatter and text, each once, without `#`."""

    @property
    def properties(self) -> Mapping[str, Any]:
        """Give the frontmatter as JSON-like values; dates and links are strings."""

    @property
    def links(self) -> Sequence[LinkRef]:
        """Give all internal links: of the frontmatter, of the text, then the embeds; doubles are kept."""

    @property
    def embeds(self) -> Sequence[LinkRef]:
        """Give the embeds."""

    @property
    def backlinks(self) -> Sequence[str]:
        """Give the paths of the files that link here, each once."""


class Source(Protocol):
    """A vault, as far as a base needs one."""

    @property
    def property_types(self) -> Mapping[str, str]:
        """Give the types that the user registered for property names."""

    def files(self, narrowing: Narrowing) -> Iterable[Entry]:
        """Give every file that may satisfy the narrowing; giving more is allowed, fewer is not."""

    def file(self, path: str) -> Entry | None:
        """Give the file at exactly this path."""

    def resolve(self, target: str, source_path: str) -> str | None:
        """Give the path that a link without its subpath leads to from a file."""
