"""What the tests of QuickAdd share: settings as the plugin writes them, and one way to run a choice."""

import json
from datetime import datetime
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_quickadd import quickadd

DATA = ".obsidian/plugins/quickadd/data.json"
THURSDAY = datetime(2026, 3, 5, 14, 7, 9)


def choice(type: str, name: str = "it", **settings: Any) -> dict[str, Any]:
    """A choice with the fields that all have."""
    return {"id": f"id-{name}", "name": name, "type": type, "command": False, **settings}


def template(name: str = "it", path: str = "Templates/T.md", **settings: Any) -> dict[str, Any]:
    """A template choice as the plugin makes it."""
    defaults: dict[str, Any] = {
        "templatePath": path,
        "folder": {"enabled": False, "folders": [], "chooseWhenCreatingNote": False},
        "fileNameFormat": {"enabled": False, "format": ""},
        "appendLink": False,
        "openFile": False,
        "fileExistsBehavior": {"kind": "prompt"},
    }
    return choice("Template", name, **{**defaults, **settings})


def capture(name: str = "it", to: str = "Log.md", **settings: Any) -> dict[str, Any]:
    """A capture choice as the plugin makes it."""
    defaults: dict[str, Any] = {
        "captureTo": to,
        "captureToActiveFile": False,
        "createFileIfItDoesntExist": {"enabled": False, "createWithTemplate": False, "template": ""},
        "format": {"enabled": False, "format": ""},
        "insertAfter": {"enabled": False, "after": "", "insertAtEnd": False},
        "prepend": False,
        "task": False,
        "appendLink": False,
    }
    return choice("Capture", name, **{**defaults, **settings})


def install(vault: VaultFolder, *choices: Any, **settings: Any) -> None:
    """Write the plugin's settings."""
    vault[DATA] = json.dumps({"choices": choices, "version": "2.0.0", **settings})


def trigger(call: Calls, name: str = "it", /, **args: Any) -> dict[str, Any]:
    """Run a choice on a Thursday in March 2026, with a person's word; what it did, without its time."""
    call.runtime(quickadd).clock = THURSDAY.timestamp
    done: dict[str, Any] = call.confirmed(quickadd, "trigger_quickadd", action_name=name, args=args)
    assert done.pop("fired_at").endswith("Z")
    return done


def refused(call: Calls, vault: VaultFolder, name: str = "it", /, **args: Any) -> ToolError:
    """The error of a choice, of which no trace is left in the vault, and for which nobody was asked."""
    before = {path: vault.bytes(path) for path in vault}
    with pytest.raises(ToolError) as raised:
        call(quickadd, "trigger_quickadd", action_name=name, args=args)
    assert raised.value.code != "elicit_required"
    assert {path: vault.bytes(path) for path in vault} == before
    return raised.value
