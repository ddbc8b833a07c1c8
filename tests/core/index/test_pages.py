"""Lists in pages: every page follows the one before, and none costs more because there is more behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from knapper.index.engine import Index
from knapper.index.permitted import Readable
from knapper.index.queries.properties import PropertyFilter
from knapper.index.view import IndexView
from knapper.page import Page
from knapper.testing import VaultFolder
from tests.core.index.conftest import Open
from tests.core.index.extracts import Shout, shouts

Ask = Callable[[IndexView, Page], tuple[Any, int | None, Any]]
ACTIVE = [PropertyFilter("status", "eq", "active")]


class Sample:
    """Notes of which it is known what each holds: a tenth lies before all others, a tenth behind them."""

    def __init__(self, vault: VaultFolder, notes: int) -> None:
        self.notes = notes
        self.paths = [self._path(n) for n in range(notes)]
        vault["M/Hub.md"] = "No links."
        for n, path in enumerate(self.paths):
            vault[path] = "\n".join(
                [*self._frontmatter(n), *(f"[[{name}]]" for name in self._links(n)), *self._words(n)]
            )

    def _path(self, n: int) -> str:
        return f"{'A' if n < self.notes / 10 else 'Z' if n >= self.notes * 0.9 else 'M'}/n{n:05}.md"

    def _frontmatter(self, n: int) -> list[str]:
        return [
            "---",
            f"tags: [{', '.join(self._tags(n))}]",
            f"status: {'active' if n % 3 == 0 else 'late' if self.paths[n][0] == 'Z' else 'other'}",
            f"rank: {n}",
            "done: true",
            "---",
        ]

    def _tags(self, n: int) -> list[str]:
        often = ["often/Yes" if n % 2 else "often"] if n % 3 else []
        return often + (["late"] if self.paths[n][0] == "Z" else [])

    def _links(self, n: int) -> list[str]:
        """To the hub, to a note of the first tenth, and to what is not there."""
        first = int(self.notes / 10)
        return (
            (["Hub"] if n % 2 else [])
            + ([f"n{n % first:05}"] if n % 5 == 0 else [])
            + ([f"Gone {n // 2:05}"] if n % 4 < 2 else [])
        )

    def _words(self, n: int) -> list[str]:
        return ["LOUD"] if n % 3 else []

    def with_(self, holds: Callable[[int], bool], may: Readable) -> list[str]:
        return [path for n, path in enumerate(self.paths) if may(path) and holds(n)]

    def in_vain(self, may: Readable) -> list[tuple[str, str]]:
        """(note, what it links to in vain) as far as somebody can see."""
        there = {path[2:-3] for path in [*self.paths, "M/Hub.md"] if may(path)}
        return [
            (path, name)
            for n, path in enumerate(self.paths)
            if may(path)
            for name in self._links(n)
            if name not in there
        ]

    def orphans(self, may: Readable) -> list[str]:
        linked = {
            name
            for n, path in enumerate(self.paths)
            if may(path)
            for name in self._links(n)
            if name != path[2:-3]
        }
        return sorted(path for path in [*self.paths, "M/Hub.md"] if may(path) and path[2:-3] not in linked)


def everybody(path: str) -> bool:
    return True


def some(path: str) -> bool:
    """Nothing of the first tenth."""
    return not path.startswith("A/")


def few(path: str) -> bool:
    """The last tenth alone."""
    return path.startswith("Z/")


def _tag(tag: str, root: str = "") -> Ask:
    return lambda view, page: view.notes_by_tag(page, [tag], root=root)


def _property(op: str, value: Any = None, root: str = "", key: str = "status") -> Ask:
    return lambda view, page: view.notes_by_property(page, [PropertyFilter(key, op, value)], root=root)


ASKED: dict[str, tuple[Ask, Callable[[Sample, Readable], list[Any]]]] = {
    "files": (
        lambda view, page: view.list_files(page),
        lambda s, may: sorted(path for path in [*s.paths, "M/Hub.md"] if may(path)),
    ),
    "backlinks": (
        lambda view, page: view.backlinks(page, "M/Hub.md"),
        lambda s, may: s.with_(lambda n: "Hub" in s._links(n), may),
    ),
    "a tag": (_tag("often"), lambda s, may: s.with_(lambda n: n % 3 > 0, may)),
    "a tag below a folder": (
        _tag("often", "M"),
        lambda s, may: s.with_(lambda n: n % 3 > 0 and s.paths[n][0] == "M", may),
    ),
    "a tag at the end": (_tag("late"), lambda s, may: s.with_(lambda n: s.paths[n][0] == "Z", may)),
    "two tags": (
        lambda view, page: view.notes_by_tag(page, ["late", "often"], every=True),
        lambda s, may: s.with_(lambda n: n % 3 > 0 and s.paths[n][0] == "Z", may),
    ),
    "a property": (_property("eq", "active"), lambda s, may: s.with_(lambda n: n % 3 == 0, may)),
    "a property below a folder": (
        _property("eq", "active", "Z"),
        lambda s, may: s.with_(lambda n: n % 3 == 0 and s.paths[n][0] == "Z", may),
    ),
    "a property at the end": (
        _property("eq", "late"),
        lambda s, may: s.with_(lambda n: n % 3 > 0 and s.paths[n][0] == "Z", may),
    ),
    "not a property": (
        _property("neq", "active"),
        lambda s, may: sorted(
            [*s.with_(lambda n: n % 3 > 0, may), *(["M/Hub.md"] if may("M/Hub.md") else [])]
        ),
    ),
    "any of a property": (
        _property("in", ["active", "late"]),
        lambda s, may: s.with_(lambda n: n % 3 == 0 or s.paths[n][0] == "Z", may),
    ),
    "a range of a property": (
        _property("gte", 50, key="rank"),
        lambda s, may: s.with_(lambda n: n >= 50, may),
    ),
    "orphans": (lambda view, page: view.orphans(page), lambda s, may: s.orphans(may)),
    "in vain by target": (
        lambda view, page: view.unresolved(page),
        lambda s, may: sorted({name for _, name in s.in_vain(may)}),
    ),
    "in vain by target below a folder": (
        lambda view, page: view.unresolved(page, root="M"),
        lambda s, may: sorted({name for path, name in s.in_vain(may) if path[0] == "M"}),
    ),
    "in vain by note": (
        lambda view, page: view.unresolved(page, by_source=True),
        lambda s, may: [name for _, name in sorted(s.in_vain(may))],
    ),
    "facts": (
        lambda view, page: view.facts_page(page, Shout),
        lambda s, may: s.with_(lambda n: n % 3 > 0, may),
    ),
}


# All of it lies at the end: it is sorted, which costs what is found and not what there is.
LIES_FAR = {"a tag at the end", "two tags", "a property at the end"}


def pages(view: IndexView, ask: Ask, limit: int) -> Iterator[tuple[list[Any], int | None]]:
    cursor = None
    while True:
        page = Page(limit, cursor)
        items, total, last = ask(view, page)
        yield [item[0] for item in items], total
        if last is None:
            return
        cursor = page.cursor_at(last)


@pytest.mark.parametrize("may", [everybody, some, few])
def test_pages_put_together_are_the_whole_and_each_knows_how_long_it_is(
    vault: VaultFolder, opened: Open, may: Readable
) -> None:
    sample = Sample(vault, 120)
    index = opened(extractors=[shouts])
    index.reconcile()
    view = IndexView(index, None if may is everybody else may)
    for name, (ask, wanted) in ASKED.items():
        expected = wanted(sample, may)
        for limit in (1, 7, 1000):
            found = list(pages(view, ask, limit))
            assert [item for items, _ in found for item in items] == expected, (name, limit)
            assert {total for _, total in found} == {len(expected)}, (name, limit)
            assert all(len(items) == limit for items, _ in found[:-1]), (name, limit)


def test_places_of_links_in_vain_come_with_their_lines(vault: VaultFolder, opened: Open) -> None:
    vault["a.md"] = "[[Gone]]\n[[b]] [[Gone|x]]\n[[gone]]\n[[Gone#h]]"
    vault["b.md"] = "![[Gone]]"
    index = opened()
    index.reconcile()
    found, total, last = IndexView(index, None).unresolved(Page(10))
    assert (total, last) == (2, None)
    assert found == [("Gone", [("a.md", 0), ("a.md", 1), ("a.md", 3), ("b.md", 0)]), ("gone", [("a.md", 2)])]
    by_note, total, _ = IndexView(index, None).unresolved(Page(10), by_source=True)
    assert total == 3
    assert by_note == [
        ("Gone", [("a.md", 0), ("a.md", 1), ("a.md", 3)]),
        ("gone", [("a.md", 2)]),
        ("Gone", [("b.md", 0)]),
    ]


def steps(index: Index, readable: Readable | None, ask: Callable[[], Any]) -> int:
    """How many instructions SQLite takes to answer, in tens."""
    taken = 0

    def count() -> None:
        nonlocal taken
        taken += 1

    with index.db.read(readable) as conn:
        conn.set_progress_handler(count, 10)
        try:
            ask()
        finally:
            conn.set_progress_handler(None, 0)
    return taken


def test_a_page_costs_the_same_however_much_there_is(vault: VaultFolder, opened: Open) -> None:
    taken: dict[tuple[str, int], int] = {}
    for notes in (300, 3000):
        Sample(vault, notes)
        index = opened(vault.path.with_name(f"{notes}.db"), extractors=[shouts])
        index.reconcile()
        for name in ASKED.keys() - LIES_FAR:
            ask, _ = ASKED[name]
            for may in (None, some, few):
                view, first = IndexView(index, may), Page(10)
                *_, last = ask(view, first)  # what is counted is counted once for all pages
                for what, page in (("first", first), ("next", Page(10, first.cursor_at(last)))):
                    label = f"{what} page of {name}, {may.__name__ if may else 'everybody'}"
                    taken[label, notes] = steps(index, may, partial(ask, view, page))
        index.close()
    grown = {
        label: (n, taken[label, 3000])
        for (label, notes), n in taken.items()
        if notes == 300 and taken[label, 3000] > 3 * n + 20
    }
    assert grown == {}
