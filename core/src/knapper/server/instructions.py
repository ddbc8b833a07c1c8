"""What a client tells its model about this server."""

from __future__ import annotations

from typing import Any

FACADES = {
    "triad": "Look for a tool with find_capability, then run it with call_capability; describe_capability shows its arguments.",
    "domain": "Each tool stands for a domain: name one of its actions and give the action's arguments as args.",
    "flat": "",
}


def text(settings: Any) -> str:
    """Which vaults there are, and how the tools are called."""
    vaults = ", ".join(vault.id for vault in settings.vaults)
    lines = [
        f"Tools on Obsidian vaults: {vaults}. Paths are relative to the vault, with forward slashes.",
        FACADES[settings.tool_facade.mode],
        "A call that changes a lot may need a person's confirmation: on elicit_required, tell the user what the message says.",
    ]
    return " ".join(line for line in lines if line)
