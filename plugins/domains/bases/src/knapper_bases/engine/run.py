"""What stays the same during one evaluation: the vault, the clock, the context file, the budget."""

from collections.abc import Mapping
from datetime import datetime, tzinfo

from knapper_bases.engine.budget import Budget
from knapper_bases.engine.source import Source
from knapper_bases.engine.values import UNKNOWN, File, Link, This


class Run:
    """One evaluation over a vault, with its memory of links and files already looked up."""

    def __init__(
        self, source: Source, budget: Budget, now: datetime | None = None, this: str | None = None
    ) -> None:
        self.source = source
        self.budget = budget
        self.zone: tzinfo | None = now.tzinfo if now else None
        self.now: datetime = (now or datetime.now()).replace(tzinfo=None)
        self.types: Mapping[str, str] = {
            name.casefold(): kind for name, kind in source.property_types.items()
        }
        self._files: dict[str, File | None] = {}
        self._resolved: dict[tuple[str, str], str | None] = {}
        self.this = self._context_file(this)
        budget.start()

    def file(self, path: str) -> File | None:
        """Find the file at a path."""
        if path not in self._files:
            entry = self.source.file(path)
            self._files[path] = None if entry is None else File(entry)
        return self._files[path]

    def resolve(self, link: Link) -> str | None:
        """Find the path that a link leads to."""
        if link.resolved is UNKNOWN:
            link.resolved = self.destination(link.target, link.source_path)
        return link.resolved if isinstance(link.resolved, str) else None

    def destination(self, target: str, source_path: str) -> str | None:
        """Find the path that a link's text leads to from a file."""
        bare = target.partition("#")[0].strip()
        if not bare:
            return source_path or None
        # Of the file that a link stands in, only the folder matters, so a whole folder shares one look-up.
        key = (bare, source_path.rpartition("/")[0])
        if key not in self._resolved:
            self._resolved[key] = self.source.resolve(bare, source_path)
        return self._resolved[key]

    def local(self, epoch: float) -> datetime:
        """Give the local time of an instant."""
        return datetime.fromtimestamp(epoch, self.zone).replace(tzinfo=None)

    def placed(self, when: datetime) -> datetime:
        """Give a local time its zone."""
        return when.replace(tzinfo=self.zone) if self.zone else when.astimezone()

    def epoch(self, when: datetime) -> float:
        """Give the instant of a local time in seconds since the epoch."""
        return self.placed(when).timestamp()

    def _context_file(self, path: str | None) -> This | None:
        file = self.file(path) if path else None
        return This(file.entry) if file else None
