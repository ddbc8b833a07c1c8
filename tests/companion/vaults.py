"""What the companion's tests share: a vault's settings, and answers as a companion gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from knapper.config.model import VaultSettings
from knapper.testing_http import Asked, Reply

KEY = "k3y-of-the-local-rest-api"
# Longer than any machine takes: what is tested is never how fast somebody answers.
PATIENCE = 30_000
PROBE = {
    "plugin_version": "1.7.0",
    "obsidian_version": "1.8.9",
    "obsidianTcApiVersion": "1",
    "vault_path": "/home/ann/Notes",
    "capabilities": {
        "dataview": {"installed": True, "version": "0.5.68"},
        "tasks": {"installed": False},
        "text-extractor": {"installed": True, "version": "0.6.1"},
    },
    "shape_ok": True,
}


def settings(folder: Path, url: str | None, **given: Any) -> VaultSettings:
    """A vault that finds its Obsidian there."""
    bridges = {"probe_timeout_ms": PATIENCE, "timeout_ms": PATIENCE, **given.pop("bridges", {})}
    base = {"id": "main", "path": str(folder), "rest_api_url": url, "rest_api_key": KEY, "bridges": bridges}
    return VaultSettings.model_validate({**base, **given})


def ok(result: Any) -> Reply:
    return Reply({"ok": True, "result": result})


def failed(code: str, message: str = "it failed", **details: Any) -> Reply:
    return Reply({"ok": False, "code": code, "message": message, **({"details": details} if details else {})})


def companion(asked: Asked) -> Reply:
    """A companion that has no route but the probe."""
    if asked.path == "/obsidian-tc/v1/probe":
        return ok(PROBE)
    return Reply({"errorCode": 40400, "message": "Not Found"}, status=404)


def without_companion(asked: Asked) -> Reply:
    """The Local REST API by itself."""
    return Reply({"errorCode": 40400, "message": "Not Found"}, status=404)
