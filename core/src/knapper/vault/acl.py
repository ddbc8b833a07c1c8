"""Folder rules: which paths a vault lets be read, written and deleted, decided in one place."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from functools import cached_property
from hashlib import sha256
from typing import Literal, NamedTuple, get_args

from knapper.caller import Caller
from knapper.errors import ToolError
from knapper.vault import globs, paths

Op = Literal["read", "write", "delete"]
OPS: tuple[Op, ...] = get_args(Op)

_NOTHING: frozenset[str] = frozenset()
_MEMORY = 1 << 18  # paths whose verdict is kept; beyond any vault we know, and bounded all the same


class Verdict(NamedTuple):
    """What the rules say about one path, and which of them said it."""

    allowed: bool
    denied_by: str | None = None
    matched_rule: str | None = None
    required_scopes: tuple[str, ...] = ()


class _Rule(NamedTuple):
    glob: str
    pattern: re.Pattern[str]
    scopes: tuple[str, ...]


class Acl:
    """The folder rules of one vault, as they were when this object was made.

    A list that is absent allows everything; an empty one allows nothing. Control folders and names that start
    with a dot are denied to everybody, whatever the lists say, but for the exact paths a door is opened with.
    """

    def __init__(
        self,
        read_only: bool = False,
        read_paths: Iterable[str] | None = None,
        write_paths: Iterable[str] | None = None,
        delete_paths: Iterable[str] | None = None,
        strict_read_default: bool = False,
        rules: Iterable[tuple[str, Iterable[str]]] = (),
        default_scopes: Iterable[str] = (),
        *,
        fold_case: bool = sys.platform in ("win32", "darwin"),
    ) -> None:
        self._fold_case = fold_case
        self._read_only = read_only
        self._strict = strict_read_default
        self._lists: dict[Op, tuple[str, ...] | None] = {
            "read": _snapshot(read_paths),
            "write": _snapshot(write_paths),
            "delete": _snapshot(delete_paths),
        }
        self._patterns = {
            op: None if listed is None else globs.compiled(listed, fold_case=fold_case)
            for op, listed in self._lists.items()
        }
        self._rules = [
            _Rule(glob, globs.compiled([glob], fold_case=fold_case), tuple(scopes)) for glob, scopes in rules
        ]
        self._default_scopes = tuple(default_scopes)
        self._readable: dict[str, bool] = {}

    @property
    def read_only(self) -> bool:
        return self._read_only

    @property
    def unrestricted_read(self) -> bool:
        """Whether every note can be read, so that a query needs no filter."""
        return self._lists["read"] is None and not self._strict

    @property
    def unrestricted(self) -> bool:
        """Whether there is no folder rule of any kind."""
        listed = any(one is not None for one in self._lists.values())
        return not (listed or self._strict or self._rules or self._default_scopes)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal rules: a key for what is computed from them."""
        facts = {
            "read_only": self._read_only,
            "strict_read_default": self._strict,
            "fold_case": self._fold_case,
            "lists": {op: None if listed is None else sorted(listed) for op, listed in self._lists.items()},
            "rules": [[rule.glob, sorted(rule.scopes)] for rule in self._rules],
            "default_scopes": sorted(self._default_scopes),
        }
        return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def evaluate(self, op: Op, path: str, exempt: frozenset[str] = _NOTHING) -> Verdict:
        """The verdict for a canonical path; exempt paths are let past the control folders, not past the lists."""
        if op not in OPS:
            raise ValueError(f"unknown operation {op!r}")
        subject = globs.subject(path, fold_case=self._fold_case)
        rule = self._last_rule(subject)
        scopes = rule.scopes if rule else self._default_scopes
        denied_by = self._denied_by(op, path, subject, exempt)
        return Verdict(denied_by is None, denied_by, rule.glob if rule else None, scopes)

    def check(self, op: Op, path: str, scopes: frozenset[str], exempt: frozenset[str] = _NOTHING) -> None:
        """Raise unless the rules allow this and the granted scopes cover what the path's rule asks for."""
        verdict = self.evaluate(op, path, exempt)
        if verdict.denied_by == "read_only":
            raise ToolError("read_only_mode", f"the vault is read-only: {op} refused", path=path, op=op)
        if not verdict.allowed:
            raise ToolError("acl_denied", f"the folder rules do not allow to {op} {path!r}", path=path, op=op)
        if verdict.required_scopes:
            _check_scopes(op, path, verdict.required_scopes, scopes)

    def readable(self, path: str) -> bool:
        """Whether lists of notes may show this path; remembered, for callbacks that ask for every row."""
        known = self._readable.get(path)
        if known is None:
            if len(self._readable) >= _MEMORY:
                self._readable.clear()
            subject = globs.subject(path, fold_case=self._fold_case)
            known = self._readable[path] = self._denied_by("read", path, subject, _NOTHING) is None
        return known

    def _denied_by(self, op: Op, path: str, subject: str, exempt: frozenset[str]) -> str | None:
        if path not in exempt:
            if paths.control_folder(path):
                return "control_folder"
            if paths.hidden(path):
                return "hidden"
        if op != "read" and self._read_only:
            return "read_only"
        pattern = self._patterns[op]
        if pattern is None:
            return "strict_read_default" if op == "read" and self._strict else None
        return None if pattern.fullmatch(subject) else f"{op}_paths"

    def _last_rule(self, subject: str) -> _Rule | None:
        return next((rule for rule in reversed(self._rules) if rule.pattern.fullmatch(subject)), None)


def _snapshot(listed: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


def _check_scopes(op: Op, path: str, required: tuple[str, ...], granted: frozenset[str]) -> None:
    caller = Caller(None, granted)
    if not all(caller.may(scope) for scope in required):
        message = f"the folder rule for {path!r} asks for more scopes"
        raise ToolError("acl_denied", message, path=path, op=op, required_scopes=list(required))
