"""The machine: Python, SQLite and its extensions, room on the disk."""

from __future__ import annotations

import platform
import shutil
import sys
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from knapper.cli._terminal import size
from knapper.cli.checks.report import Check, Finding
from knapper.cli.checks.subject import Subject, folder_of

OLDEST_SQLITE = (3, 38)
LITTLE = 1_000_000_000
TOO_LITTLE = 100_000_000


def versions(subject: Subject) -> Finding:
    python = platform.python_version()
    found = Finding(f"knapper {version('knapper-core')} on Python {python}")
    found.details = {
        "python": f"{platform.python_implementation()} {python}",
        "executable": sys.executable,
        "platform": platform.platform(),
    }
    if sys.version_info < (3, 11):  # noqa: UP036 (whoever installed it by force should read why it fails)
        found.fail(f"Python {python} is too old", "Install Python 3.11 or newer, and knapper in it.")
    if sys.prefix == sys.base_prefix:
        found.notes.append(
            "knapper is installed in the system's Python; an environment of its own keeps it apart."
        )
    return found


def sqlite(subject: Subject) -> Finding:
    """Full-text search is needed; without loadable extensions vectors are searched in memory."""
    from knapper.store.sqlite import sqlite_module, sqlite_report

    module, used = sqlite_module(), sqlite_report()
    found = Finding(f"SQLite {used.version} through {used.module}")
    if tuple(map(int, used.version.split(".")[:2])) < OLDEST_SQLITE:
        found.fail(f"SQLite {used.version} is too old", "Use a Python with SQLite 3.38 or newer.")
    with closing(module.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='trigram')")
            found.details["fts5"] = "yes, with trigrams"
        except module.Error as error:
            found.details["fts5"] = "no"
            found.fail(f"this SQLite has no full-text search: {error}", "pip install pysqlite3")
        found.details["sqlite-vec"] = _vectors(connection)
    if not found.details["sqlite-vec"]:
        found.details["sqlite-vec"] = "not loadable"
        found.notes.append(
            "Vectors are searched with numpy: the answers are the same, large vaults take longer."
        )
    return found


def _vectors(connection: object) -> str:
    from knapper.index.vectors import prepare

    prepare(connection)  # type: ignore[arg-type]
    try:
        row = connection.execute("SELECT vec_version()").fetchone()  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - two modules have two classes of errors, and any of them means no
        return ""
    return str(row[0])


def space(subject: Subject) -> Finding:
    places = {"cache": subject.folder} | {f"vault {v.id}": folder_of(v) for v in subject.vaults}
    found = Finding()
    for name, folder in places.items():
        free = shutil.disk_usage(_nearest(folder)).free
        found.details[name] = f"{size(free)} free"
        if free < TOO_LITTLE:
            found.fail(f"{name}: only {size(free)} are free", "Free some space: writes will fail.")
        elif free < LITTLE:
            found.warn(
                f"{name}: only {size(free)} are free", "Free some space, or set cache_dir to another disk."
            )
    found.summary = "there is room on the disk" if found.status == "ok" else "the disk is nearly full"
    return found


def _nearest(folder: Path) -> Path:
    """The folder, or the first one above it that exists."""
    folder = folder.absolute()
    return next((place for place in (folder, *folder.parents) if place.exists()), Path(folder.anchor))


CHECKS: dict[str, Check] = {
    "runtime.versions": versions,
    "native.availability": sqlite,
    "disk.space": space,
}
