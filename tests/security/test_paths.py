"""Ways around the folder rules and out of the vault, each of which must be shut."""

from __future__ import annotations

import os
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from knapper.errors import ToolError
from knapper.vault import _posix, _renames
from knapper.vault.acl import Acl
from knapper.vault.disk import Disk
from knapper.vault.door import Door
from knapper.vault.journal import Journal

SECRET = "what nobody may see"
links = pytest.mark.skipif(os.name == "nt", reason="links need privileges on Windows")


class House:
    """A vault with a private folder, and a folder beside it that is no part of it."""

    def __init__(self, folder: Path, portable: bool) -> None:
        self.root = folder / "Vault"
        self.outside = folder / "outside"
        for path in (
            "Vault/Open/a.md",
            "Vault/Private/s.md",
            "Vault/.obsidian/app.json",
            "Vault/.git/config",
            "outside/s.md",
        ):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("{}" if "app" in path else "open" if "Open" in path else SECRET)
        self.cache = folder / "cache"
        self.disk = Disk(self.root, portable=portable)
        self.journal = Journal(self.cache, "home")

    def door(self, *, open_only: bool = True) -> Door:
        listed = ["Open/**"] if open_only else None
        acl = Acl(read_paths=listed, write_paths=listed, delete_paths=listed)
        return Door("home", "Home", self.disk, acl, self.journal)

    def ways(self, door: Door, path: str) -> list[Callable[[], object]]:
        """Every way through the door that takes a path."""
        return [
            lambda: door.read(path),
            lambda: door.stat(path),
            lambda: door.exists(path),
            lambda: door.write(path, "mine"),
            lambda: door.write(path, "mine", mode="create"),
            lambda: door.edit(path, lambda text: text),
            lambda: door.move(path, "Open/taken.md"),
            lambda: door.move("Open/a.md", path, overwrite=True),
            lambda: door.delete(path),
            lambda: door.delete(path, hard=True),
            lambda: door.authorise("read", path),
            lambda: door.authorise("write", path),
        ]

    def untouched(self) -> bool:
        secrets = [self.root / "Private/s.md", self.root / ".git/config", self.outside / "s.md"]
        return all(path.read_text() == SECRET for path in secrets) and len(list(self.outside.iterdir())) == 1


@pytest.fixture(params=["posix", "portable"])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path, request.param == "portable")
    yield house
    assert house.untouched()


def errors(ways: list[Callable[[], object]]) -> list[ToolError | None]:
    found: list[ToolError | None] = []
    for way in ways:
        try:
            way()
            found.append(None)
        except ToolError as error:
            found.append(error)
    return found


def codes(ways: list[Callable[[], object]]) -> set[str]:
    return {error.code if error else "ok" for error in errors(ways)}


def all_codes(house: House, path: str, *, open_only: bool = True) -> set[str]:
    """What every way answers, outside and inside a transaction; no answer may say where the vault lies."""
    door = house.door(open_only=open_only)
    found = errors(house.ways(door, path))
    with door.transaction():
        found += errors(house.ways(door, path))
    for error in found:
        assert error is None or str(house.root) not in f"{error.message} {error.details}"
    return {error.code if error else "ok" for error in found}


@pytest.mark.parametrize(
    "path",
    [
        "../outside/s.md",
        "Open/../../outside/s.md",
        "Open/../Private/s.md",
        "Open\\..\\Private\\s.md",
        "Open/..\\..\\outside\\s.md",
        "Open/.. /Private/s.md",
        "Open/.../s.md",
        "./../outside/s.md",
        "%2e%2e/outside/s.md",
        "Open/%2E%2e%2FPrivate/s.md",
        "/etc/passwd",
        "\\etc\\passwd",
        "//host/share/s.md",
        "C:/Windows/win.ini",
        "c:",
        "Open/a.md\x00.png",
        "Open/a\n.md",
        "Open/nul",
        "x" * 2000,
    ],
)
def test_no_spelling_leads_out(house: House, path: str) -> None:
    assert all_codes(house, path) == {"path_invalid"}
    assert all_codes(house, path, open_only=False) == {"path_invalid"}


def test_a_name_like_a_drives_is_one_of_the_vault_where_there_are_no_drives(house: House) -> None:
    assert all_codes(house, "c:s.md") == {"path_invalid" if os.name == "nt" else "acl_denied"}


def test_an_absolute_path_into_the_vault_is_refused_too(house: House) -> None:
    assert all_codes(house, "/" + "Open/a.md") == {"path_invalid"}


@pytest.mark.parametrize(
    "path",
    [
        ".obsidian/app.json",
        ".OBSIDIAN/app.json",
        ".Obsidian/App.json",
        "./.obsidian/app.json",
        ".obsidian//app.json",
        ".obsidian\\app.json",
        ".obsidian./app.json",
        ".obsidian /app.json",
        ".ob\u200bsidian/app.json",
        "\u2060.obsidian/app.json",
        ".obſidian/app.json",
        ".git/config",
        ".GIT/config",
        ".git",
        ".trash/x.md",
        "Open/.git/config",
        "Open/.hidden.md",
        ".knapper-tmp-0",
    ],
)
def test_control_folders_stay_shut_in_every_spelling(house: House, path: str) -> None:
    assert all_codes(house, path, open_only=False) == {"acl_denied"}


def test_the_private_folder_stays_shut(house: House) -> None:
    assert all_codes(house, "Private/s.md") == {"acl_denied"}
    assert all_codes(house, "./Private//s.md") == {"acl_denied"}
    assert all_codes(house, "Private\\s.md") == {"acl_denied"}
    assert [entry.path for entry in house.door().walk(folders=True)] == ["Open", "Open/a.md"]


@pytest.mark.parametrize(("form", "other"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_another_composition_of_a_private_name_is_private(tmp_path: Path, form: str, other: str) -> None:
    house = House(tmp_path, False)
    name = unicodedata.normalize(form, "Privé/s.md")  # type: ignore[arg-type]
    (house.root / name).parent.mkdir()
    (house.root / name).write_text(SECRET)
    alias = unicodedata.normalize(other, "Privé/s.md")  # type: ignore[arg-type]
    for listed in ([name.replace("s.md", "**")], [alias.replace("s.md", "**")]):
        door = Door("home", "Home", house.disk, Acl(read_paths=listed), house.journal)
        assert door.read(name).path == door.read(alias).path
    assert codes([lambda: house.door().read(alias), lambda: house.door().read(name)]) == {"acl_denied"}


def test_where_case_is_folded_another_case_of_a_private_name_is_private(tmp_path: Path) -> None:
    house = House(tmp_path, False)
    house.disk.folds_case = True
    acl = Acl(read_paths=["open/**"], fold_case=True)
    door = Door("home", "Home", house.disk, acl, house.journal)
    assert door.read("OPEN/A.md").path == "Open/a.md"
    assert codes([lambda: door.read("PRIVATE/S.md"), lambda: door.read("private/s.md")]) == {"acl_denied"}


@links
def test_a_link_is_judged_by_where_it_leads(house: House) -> None:
    (house.root / "Open/to-file.md").symlink_to(house.root / "Private/s.md")
    (house.root / "Open/to-folder").symlink_to("../Private")
    (house.root / "Open/to-control").symlink_to("../.obsidian")
    (house.root / "Open/to-open.md").symlink_to("a.md")
    assert all_codes(house, "Open/to-file.md") == {"acl_denied"}
    assert all_codes(house, "Open/to-folder/s.md") == {"acl_denied"}
    assert all_codes(house, "Open/to-folder/new.md") == {"acl_denied"}
    assert all_codes(house, "Open/to-control/app.json", open_only=False) == {"acl_denied"}
    assert house.door().read("Open/to-open.md").path == "Open/a.md"
    assert house.door().write("Open/to-open.md", "changed").path == "Open/a.md"
    assert (house.root / "Open/to-open.md").is_symlink()
    assert (house.root / "Open/a.md").read_text() == "changed"


@links
@pytest.mark.parametrize("target", ["../../outside", "absolute", "../.."])
def test_a_link_that_leads_out_is_refused(house: House, target: str) -> None:
    (house.root / "Open/way").symlink_to(house.outside if target == "absolute" else target)
    for path in ("Open/way/s.md", "Open/way/new.md", "Open/way"):
        assert all_codes(house, path, open_only=False) == {"path_invalid"}


@links
def test_links_that_lead_out_through_others_or_nowhere_are_refused(house: House) -> None:
    (house.root / "Open/one").symlink_to("two")
    (house.root / "Open/two").symlink_to("../../outside/s.md")
    (house.root / "Open/loop").symlink_to("pool")
    (house.root / "Open/pool").symlink_to("loop")
    (house.root / "Open/dangling.md").symlink_to("../../outside/new.md")
    for path in ("Open/one", "Open/two", "Open/loop", "Open/loop/x.md", "Open/dangling.md"):
        assert all_codes(house, path, open_only=False) == {"path_invalid"}


@links
def test_a_vault_that_is_itself_a_link_works(house: House, tmp_path: Path) -> None:
    (tmp_path / "Alias").symlink_to("Vault")
    door = Door("home", "Home", Disk(tmp_path / "Alias"), Acl(), house.journal)
    assert door.read("Open/a.md").text == "open"


def test_a_hard_link_opens_nothing(house: House) -> None:
    os.link(house.outside / "s.md", house.root / "Open" / "hard.md")
    os.link(house.root / "Private" / "s.md", house.root / "Open" / "private.md")
    door = house.door()
    for path in ("Open/hard.md", "Open/private.md"):
        assert codes(
            [
                partial(door.read, path),
                partial(door.edit, path, str.upper),
                partial(door.write, path, "mine"),
                partial(door.move, path, "Open/taken.md"),
                partial(door.move, "Open/a.md", path, overwrite=True),
                partial(door.delete, path),
                partial(door.delete, path, hard=True),
            ]
        ) == {"acl_denied"}
    assert [entry.path for entry in house.door().walk()] == ["Open/a.md"]


def test_a_file_that_becomes_a_link_after_it_was_located_is_not_followed(house: House) -> None:
    path = house.disk.locate("Open/a.md")
    (house.root / "Open/a.md").unlink()
    (house.root / "Open/a.md").symlink_to(house.outside / "s.md")
    assert codes([lambda: house.disk.read(path), lambda: house.disk.version(path)]) == {"path_invalid"}
    assert house.disk.stat(path) is None


def test_a_folder_that_becomes_a_link_after_it_was_located_is_not_followed(house: House) -> None:
    path = house.disk.locate("Open/s.md")
    (house.root / "Open/a.md").unlink()
    (house.root / "Open").rmdir()
    (house.root / "Open").symlink_to(house.outside)
    ways: list[Callable[[], object]] = [
        lambda: house.disk.read(path),
        lambda: house.disk.version(path),
        lambda: house.disk.put(path, b"mine", None),
        lambda: house.disk.move(path, "taken.md", None),
        lambda: house.disk.check_place(path),
    ]
    assert codes(ways) == {"path_invalid"}
    assert house.disk.stat(path) is None
    assert list(house.disk.walk("Open")) == []


@links
@pytest.mark.skipif(not _posix.AVAILABLE, reason="only descriptors close the last gap")
def test_a_folder_swapped_for_a_link_all_the_time_never_lets_anything_through(tmp_path: Path) -> None:
    """One thread swaps a folder and a link to the outside, atomically, as fast as it can; the others go on working."""
    house = House(tmp_path, False)
    busy, aside = house.root / "Busy", house.root / "Aside"
    busy.mkdir()
    (busy / "s.md").write_text("open")
    aside.symlink_to(house.outside)
    stop, swaps = threading.Event(), []

    def swap() -> None:
        fd = os.open(house.root, os.O_RDONLY)
        while not stop.is_set():
            swaps.append(_renames.exchange(fd, "Busy", fd, "Aside"))
        os.close(fd)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        door, seen = house.door(open_only=False), set()
        for number in range(300):
            with suppress(ToolError):
                seen.add(door.read("Busy/s.md").text)
            with suppress(ToolError):
                door.write(f"Busy/new {number}.md", "mine")
            with suppress(ToolError):
                door.write("Busy/s.md", f"open {number}")
            with suppress(ToolError):
                door.delete("Busy/s.md", hard=number % 2 == 0)
            with suppress(ToolError), door.transaction():
                door.write("Busy/s.md", "open again")
                door.write("Busy/t.md", "mine")
    finally:
        stop.set()
        swapper.join()
    assert swaps
    if not all(swaps):
        pytest.skip("this system cannot swap two names")
    assert seen
    assert SECRET not in seen
    assert house.untouched()


@links
def test_a_planted_temporary_file_is_not_written_through(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.urandom", bytes)
    (house.root / "Open" / ".knapper-tmp-0000000000000000").symlink_to(house.outside / "s.md")
    assert codes([lambda: house.door().write("Open/new.md", "mine")]) == {"note_exists"}


@pytest.mark.skipif(sys.platform == "win32", reason="a colon starts a stream there")
def test_a_colon_in_a_name_is_only_a_character_elsewhere(house: House) -> None:
    assert house.door().write("Open/10:30.md", "x").path == "Open/10:30.md"
