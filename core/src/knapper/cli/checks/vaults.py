"""The vaults: their folders, what Obsidian has of them, and that the server's own files lie elsewhere."""

from __future__ import annotations

import json
import os
import socket
import stat
from pathlib import Path
from urllib.parse import urlsplit

from knapper.bridge import COMPANION, BridgeState
from knapper.cli.checks.report import Check, Finding
from knapper.cli.checks.subject import Subject, folder_of
from knapper.config.model import VaultSettings
from knapper.config.paths import ELSEWHERE

REACH_SECONDS = 0.5


def folders(subject: Subject) -> Finding:
    found = Finding(
        f"{len(subject.vaults)} vault folder(s) can be used" if subject.vaults else "no vault to look at"
    )
    for vault in subject.vaults:
        folder = folder_of(vault)
        found.details[vault.id] = str(folder)
        _check_folder(subject, vault, folder, found)
    for inner, outer in _nested(subject.vaults):
        found.warn(
            f"the vault {inner!r} lies inside {outer!r}", "Exclude it there, or serve only one of them."
        )
    if found.issues:
        found.summary = "not every vault folder can be used as configured"
    return found


def _check_folder(subject: Subject, vault: VaultSettings, folder: Path, found: Finding) -> None:
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "is not there"
        found.fail(f"the folder of {vault.id!r} {what}", "Correct its path, or connect the drive it is on.")
    elif not os.access(folder, os.R_OK | os.X_OK):
        found.fail(f"the folder of {vault.id!r} cannot be read", "Give this user the right to read it.")
    elif not os.access(folder, os.W_OK) and not _read_only(subject, vault):
        found.warn(
            f"the folder of {vault.id!r} cannot be written",
            "Give this user the right to write it, or set acl.read_only so that clients know.",
        )


def _read_only(subject: Subject, vault: VaultSettings) -> bool:
    rules = vault.acl or (subject.settings.acl if subject.settings else None)
    return rules is not None and rules.read_only


def _nested(vaults: list[VaultSettings]) -> list[tuple[str, str]]:
    real = {vault.id: folder_of(vault).resolve() for vault in vaults}
    return [(a, b) for a, inner in real.items() for b, outer in real.items() if outer in inner.parents]


def location(subject: Subject) -> Finding:
    """That they lie outside every vault is a rule of the configuration; others may not read them anywhere."""
    folder = subject.folder
    found = Finding("the server's own files are apart from the vaults", details={"folder": str(folder)})
    if not _can_be_written(folder):
        found.fail("the folder of the server's own files cannot be made or written", f"Either {ELSEWHERE}.")
    elif folder.is_dir() and os.name != "nt":
        _check_private(subject, folder, found)
    if found.issues:
        found.summary = "the server's own files are not kept well"
    return found


def _can_be_written(folder: Path) -> bool:
    """Whether the server can keep files there, or make the folder first."""
    there = next((above for above in (folder, *folder.parents) if os.path.lexists(above)), folder)
    return os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)  # noqa: PTH112 (as above)


def _check_private(subject: Subject, folder: Path, found: Finding) -> None:
    wanted = {folder: 0o700} | dict.fromkeys(folder.glob("state.db*"), 0o600)
    for place, mode in wanted.items():
        if not stat.S_IMODE(place.stat().st_mode) & 0o077:
            continue
        if subject.fix:
            place.chmod(mode)
            found.notes.append(f"fixed: {place.name} is now for its owner alone")
        else:
            found.warn(
                f"other users can open {place.name}", f"chmod {mode:o} on it, or `knapper doctor --fix`."
            )


def obsidian(subject: Subject) -> Finding:
    found = Finding("Obsidian's settings are there" if subject.vaults else "no vault to look at")
    for vault in subject.vaults:
        settings = folder_of(vault) / ".obsidian"
        if os.path.isdir(settings):  # noqa: PTH112 (Path.is_dir raises in a folder that may not be entered)
            found.details[vault.id] = _enabled(settings) or "no community plugins"
        else:
            found.details[vault.id] = "not opened in Obsidian yet"
            found.notes.append(f"{vault.id}: a plain folder of notes, which is all that is needed.")
    return found


def _enabled(settings: Path) -> list[str]:
    try:
        listed = json.loads((settings / "community-plugins.json").read_bytes())
    except (OSError, ValueError):
        return []
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []


def bridge(subject: Subject) -> Finding:
    """Only what a running Obsidian is configured for: the native engines need none."""
    found = Finding("no vault is connected to a running Obsidian, and none has to be")
    for vault in subject.vaults:
        state = _state(subject, vault)
        found.details[vault.id] = f"{state.state} ({state.reason})"
        if state.state == "live":
            found.summary = "Obsidian answers"
        elif vault.rest_api_url is not None and vault.mode != "headless":
            found.warn(
                f"Obsidian does not answer for {vault.id!r} as configured: {state.reason}",
                "Start Obsidian with the plugins Local REST API and knapper-companion enabled and check"
                " rest_api_url and rest_api_key, or set mode to 'headless'.",
            )
    return found


def _state(subject: Subject, vault: VaultSettings) -> BridgeState:
    """What the companion's client finds now; without one, whether somebody listens there."""
    companion = subject.registry.bridges.get(COMPANION) if subject.registry else None
    if companion and companion.state:
        return companion.state(vault, True)
    if vault.rest_api_url is None or vault.mode == "headless":
        return BridgeState("headless", "companion-missing")
    if _reachable(vault.rest_api_url):
        return BridgeState("degraded", "companion-missing")
    return BridgeState("degraded", "companion-unreachable")


def _reachable(url: str) -> bool:
    parts = urlsplit(url)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "", port), REACH_SECONDS):
            return True
    except (OSError, ValueError):
        return False


CHECKS: dict[str, Check] = {
    "vaults.folders": folders,
    "cache.location": location,
    "obsidian.detection": obsidian,
    "bridge.state": bridge,
}
