"""The vaults of a server: each its folder, its rules, its index, and the doors that calls get to it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from knapper.config.paths import expanded
from knapper.domain import FileText, TextSource
from knapper.errors import ToolError
from knapper.index.derived import Texts, Unread
from knapper.index.engine import Index
from knapper.index.loading import facts
from knapper.index.rows import is_note
from knapper.index.view import IndexView
from knapper.store.snapshots import Before as Kept
from knapper.vault import paths
from knapper.vault.acl import Acl
from knapper.vault.disk import Disk
from knapper.vault.door import Door
from knapper.vault.files import Before, Change
from knapper.vault.journal import Journal

if TYPE_CHECKING:
    from knapper.caller import Caller
    from knapper.dispatch.call import Call
    from knapper.runtime import Runtime

log = logging.getLogger("knapper.vaults")


class Vault:
    """One vault, as long as the server runs."""

    def __init__(self, runtime: Runtime, settings: Any) -> None:
        folder = expanded(settings.path)
        if not folder.is_dir():
            raise ToolError(
                "vault_not_found", f"the folder of the vault {settings.id!r} is not there", vault=settings.id
            )
        self.id: str = settings.id
        self.name: str = settings.name or folder.resolve().name
        self.folder_name = folder.resolve().name
        self.kind: str = settings.kind
        self.settings = settings
        self.disk = Disk(folder, exclude=settings.exclude)
        self.acl = acl_of(runtime.settings, settings)
        self.journal = Journal(runtime.folder, self.id)
        self._runtime = runtime
        recovered = self.journal.recover(self.disk)
        if recovered:
            log.warning(
                "vault %s: %d interrupted changes were completed, %d could not be%s",
                self.id,
                recovered.completed,
                len(recovered.failed),
                ", the next waits until the disk takes it" if recovered.waits_for else "",
            )
        self.index = Index(
            self.disk,
            runtime.folder / "index" / f"{self.id}.db",
            settings=runtime.settings.index,
            watch=runtime.settings.watch,
            extractors=[e for d in runtime.registry.domains.values() for e in d.extractors],
            texts=[
                _asked(runtime, s, self.id) for d in runtime.registry.domains.values() for s in d.text_sources
            ],
            embedding=runtime.embedding if runtime.has_embedder else None,
            clock=runtime.clock,
        )

    def obsidian_plugins(self) -> list[str]:
        """The community plugins enabled in Obsidian's own settings of this vault."""
        try:
            listed = json.loads(self.disk.read(".obsidian/community-plugins.json").text)
        except (ToolError, ValueError):
            return []
        return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []

    def apply(self, settings: Any) -> None:
        """Take over what of a changed configuration can be applied without a restart."""
        self.settings = settings
        self.kind = settings.kind
        self.acl = acl_of(self._runtime.settings, settings)

    def find_note(self, given: str, caller: Caller, door: Door) -> str:
        """The note meant by a path, a name or an alias.

        A path that this caller may not read comes back as it is, whether something is there or not, and is refused
        by the folder rules.
        """
        path = paths.canonical(given)
        readable = self.acl.readable(path)
        if readable and door.is_file(path):
            return path
        try:
            return self.index_view(caller).find_note(path)
        except ToolError as error:
            named = "/" not in path and not is_note(path)
            if readable or named or error.code != "note_not_found":
                raise
            return path

    def index_view(self, caller: Caller) -> IndexView:
        """The index as this caller may see it."""
        return IndexView(self.index, None if self.acl.unrestricted_read else self.acl.readable)

    def door(self, call: Call) -> Door:
        """The door to the files for one call: rules, snapshots and index are on its every way."""
        return Door(
            self.id,
            self.name,
            self.disk,
            self.acl,
            self.journal,
            scopes=call.caller.scopes,
            exempt=call.tool.domain.exempt,
            may_read=call.tool.domain.may_read,
            before=lambda files: self._before(call, files),
            changed=lambda changes: self._changed(call, changes),
            begin=lambda: call.limit.begin() if call.limit else None,
            clock=self._runtime.clock,
        )

    def _before(self, call: Call, files: Sequence[Before]) -> None:
        """Ahead of the first change: the key is marked, and what will be replaced is kept."""
        call.takes_effect()
        self._runtime.snapshots.record(call.landings)
        call.landings = []
        if not self._runtime.settings.snapshots.enabled:
            return
        kept = [Kept(f.path, f.data, f.op, f.target) for f in files]
        call.snapshots = self._runtime.snapshots.take_many(self.id, kept, call.session, call.name)
        call.kept = [f.target or f.path for f in files]

    def _changed(self, call: Call, changes: Sequence[Change]) -> None:
        """After the files are durable: the index takes them in before the call returns."""
        self.index.wrote((c.path, c.data, c.stat and facts(c.stat)) for c in changes)
        after = {c.path: c.hash for c in changes}
        self._runtime.tell_changed(self.id, [*after])
        # Not where these are the changes of a process that died, met on the way to our own.
        if call.snapshots and after.keys() >= set(call.kept):
            hashes = [after[path] for path in call.kept]
            # Recorded with the audit row in one commit, or before the call's next change.
            call.landings = self._runtime.snapshots.landings(call.snapshots, hashes)
            call.snapshots = []


def _asked(runtime: Runtime, source: TextSource, vault: str) -> Texts:
    """A domain's source of texts with the tables it answers from."""

    def known(files: Sequence[Unread]) -> Iterable[FileText]:
        return source.fn(runtime.state.domain(source.domain), vault, files)

    return Texts(source.extensions, known)


class Vaults:
    """All vaults by id; the first one, or the configured one, is the default."""

    def __init__(self, runtime: Runtime) -> None:
        settings = runtime.settings
        self._all = {one.id: Vault(runtime, one) for one in settings.vaults}
        self.default = settings.default_vault or settings.vaults[0].id
        if self.default not in self._all:
            raise ToolError(
                "vault_not_found", f"the default vault {self.default!r} is not configured", vault=self.default
            )

    def get(self, id: str | None) -> Vault:
        found = self._all.get(id or self.default)
        if found is None:
            raise ToolError("vault_not_found", f"there is no vault {id!r}", vault=id)
        return found

    def __iter__(self) -> Iterator[Vault]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def start(self) -> None:
        for vault in self:
            vault.index.start()

    def stop(self) -> None:
        for vault in self:
            vault.index.stop()

    def close(self) -> None:
        for vault in self:
            vault.index.close()


def acl_of(settings: Any, vault: Any) -> Acl:
    """A vault's own folder rules, or the server's where it has none; the server's read-only switch holds for all."""
    rules = vault.acl or settings.acl
    return Acl(
        rules.read_only or settings.acl.read_only,
        rules.read_paths,
        rules.write_paths,
        rules.delete_paths,
        rules.strict_read_default,
        [(rule.glob, rule.scopes) for rule in rules.rules],
        rules.default_scopes,
    )
