"""Vault paths as text: relative, with forward slashes, and never out of the vault."""

from __future__ import annotations

import os
import re
import unicodedata

from knapper.errors import ToolError

LONGEST = 1024
_LONGEST_NAME = 255  # bytes
TEMPORARY = ".knapper-tmp-"
# The only copy of a file that moves: no sweep may take it for a leftover.
PARKED = ".knapper-parked-"
CONTROL = frozenset({".obsidian", ".git", ".trash"})

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# A way from a drive's root. `Q: why.md` is a name like any other where the system has no drives.
_DRIVE = re.compile(r"[A-Za-z]:" if os.name == "nt" else r"[A-Za-z]:(?:/|$)")
# With or without an extension, and with Windows' superscript digits: `con`, `NUL.md`, `com¹.txt`.
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(?:\..*)?", re.IGNORECASE
)
# What editors, browsers, office suites and sync programs leave while they work.
_UNFINISHED = re.compile(
    r".*~|~\$.*|~syncthing~.*|#.*#|.*\.(?:tmp(?:[.-][0-9a-f]+)*|swp|swo|swx|part|partial|crdownload|icloud)",
    re.IGNORECASE | re.DOTALL,
)


def canonical(path: str) -> str:
    """The one spelling of a vault-relative path, or path_invalid; the vault itself is the empty path."""
    if len(path) > LONGEST:
        raise _invalid(path[:64], f"a path has at most {LONGEST} characters")
    if _UNPRINTABLE.search(path):
        raise _invalid(path, "a path holds no control characters")
    forward = path.replace("\\", "/")
    if forward.startswith("/") or _DRIVE.match(forward):
        raise _invalid(path, "a path is relative to the vault")
    if "%" in forward and _decodes_to_parent(forward):
        raise _invalid(path, "a path does not leave the vault")
    parts = [part for part in forward.split("/") if part not in ("", ".")]
    for part in parts:
        _check_part(part, path)
    return "/".join(parts)


def _decodes_to_parent(path: str) -> bool:
    """A name that only a decoder would turn into a way out is no name that a vault has."""
    from urllib.parse import unquote

    return ".." in unquote(path).replace("\\", "/").split("/")


def _check_part(part: str, path: str) -> None:
    if not part.strip(" ."):  # Windows drops trailing dots and spaces, so `.. ` is `..` there
        raise _invalid(
            path, "a path does not leave the vault" if ".." in part else "a name is more than dots and spaces"
        )
    if _RESERVED.fullmatch(part):
        raise _invalid(path, f"{part!r} is a device name on Windows")
    if os.name == "nt" and (":" in part or part[-1] in " ."):
        raise _invalid(path, "a name on Windows has no colon and does not end in a dot or a space")


def _invalid(path: str, reason: str) -> ToolError:
    shown = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", path)
    return ToolError("path_invalid", f"the path cannot be used: {reason}", path=shown)


def usable(name: str) -> bool:
    """Whether a directory entry's name can be part of a canonical path."""
    try:
        return "\\" not in name and canonical(name) == name
    except ToolError:
        return False


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def name(path: str) -> str:
    return path.rpartition("/")[2]


def join(folder: str, leaf: str) -> str:
    return f"{folder}/{leaf}" if folder else leaf


def labelled(path: str, label: str) -> str:
    """The path with a label in parentheses before its extension: `a.md` and `2` give `a (2).md`.

    A name that would be too long for a filesystem loses the end of its stem.
    """
    folder, leaf = parent(path), name(path)
    stem, dot, extension = leaf.rpartition(".")
    if not stem:
        stem, dot, extension = leaf, "", ""
    ending = f" ({label}){dot}{extension}"
    room = _LONGEST_NAME - len(ending.encode())
    return join(folder, stem.encode()[:room].decode(errors="ignore") + ending)


def nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """Equal for two spellings that a case-folding, normalising filesystem takes for one name."""
    return text.lower() if text.isascii() else nfc(nfc(text).casefold())


def control_folder(path: str) -> str | None:
    """The control folder that a path is in (`.obsidian`, `.git`, `.trash`), in whatever spelling."""
    if path.isascii() and not hidden(path):
        return None
    return next((bare for part in path.split("/") if (bare := _bare(part)) in CONTROL), None)


def _bare(part: str) -> str:
    """A name as the most forgiving filesystem reads it: no case, no ignorable characters, no trailing dots."""
    if not part.isascii():
        part = "".join(char for char in part if unicodedata.category(char) != "Cf")
    return folded(part).rstrip(" .")


def hidden(path: str) -> bool:
    """Whether a part of the path starts with a dot: Obsidian shows no such file or folder."""
    return path.startswith(".") or "/." in path


def unfinished(name: str) -> bool:
    """Whether a file's name says that another program is still working on it."""
    return _UNFINISHED.fullmatch(name) is not None
