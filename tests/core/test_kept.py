from collections.abc import Callable

import msgspec
import pytest

from knapper import Caller, Domain
from knapper.index.queries import kept
from knapper.index.queries.kept import Stamp
from knapper.index.rows import Note
from knapper.index.view import IndexView
from knapper.testing import Calls, VaultFolder

lines = Domain("lines", summary="The lines of notes.")


class Line(msgspec.Struct):
    text: str


@lines.extract(Line)
def found(note: Note) -> list[Line]:
    return [Line(text) for text in note.text.splitlines()]


def joined(stamp: Stamp, rows: list[Line]) -> list[str]:
    return [stamp.path, *(row.text for row in rows)]


@pytest.fixture
def view(call: Calls) -> Callable[[], IndexView]:
    def level() -> IndexView:
        vault = call.runtime(lines).vaults.get("main")
        vault.index.reconcile()
        return vault.index_view(Caller("test", frozenset({"*"})))

    return level


def test_only_what_changed_is_made_anew(view: Callable[[], IndexView], vault: VaultFolder) -> None:
    vault["a.md"] = "one\ntwo\n"
    vault["b.md"] = "three\n"
    first = view().made(Line, joined, ["b.md", "a.md", "none.md"])
    assert first == [["b.md", "three"], ["a.md", "one", "two"]]
    vault["b.md"] = "four\n"
    second = view().made(Line, joined, ["b.md", "a.md"])
    assert second == [["b.md", "four"], ["a.md", "one", "two"]]
    assert second[1] is first[1]


def test_what_is_gone_is_forgotten(view: Callable[[], IndexView], vault: VaultFolder) -> None:
    vault["a.md"] = "one\n"
    assert [*view().made_of(Line, joined).stamps] == ["a.md"]
    del vault["a.md"]
    assert view().made(Line, joined, ["a.md"]) == []


def test_another_variant_is_made_anew(view: Callable[[], IndexView], vault: VaultFolder) -> None:
    vault["a.md"] = "one\n"

    def counted(stamp: Stamp, rows: list[Line]) -> list[str]:
        return [str(len(rows))]

    index = view()
    assert index.made(Line, joined, ["a.md"], "texts") == [["a.md", "one"]]
    assert index.made(Line, counted, ["a.md"], "numbers") == [["1"]]


def test_no_more_is_kept_than_there_is_room_for(
    view: Callable[[], IndexView], vault: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST_BYTES", 8)
    for name in "abc":
        vault[f"{name}.md"] = "four\n"
    index = view()
    made = index.made_of(Line, joined)
    assert ([*made.things], made.bytes) == (["a.md", "b.md"], 8)
    assert index.made(Line, joined, ["c.md", "a.md"]) == [["c.md", "four"], ["a.md", "four"]]


def test_a_link_means_a_file_that_the_caller_may_read(call: Calls, vault: VaultFolder) -> None:
    vault["closed/note.md"] = ""
    vault["open/deep/note.md"] = ""
    vault["open/a.md"] = "[[note]] [[closed/note]] [[nowhere]]"
    call.settings["acl"] = {"read_paths": ["open/**"]}
    runtime = call.runtime(lines)
    one = runtime.vaults.get("main")
    one.index.reconcile()
    index = one.index_view(Caller("test", frozenset({"*"})))
    assert index.meaning("note", "open/a.md") == "open/deep/note.md"
    assert index.meaning("closed/note", "open/a.md") is None
    assert index.mentions("closed/note") == ["open/a.md"]
    assert index.mentions("nowhere") == ["open/a.md"]
