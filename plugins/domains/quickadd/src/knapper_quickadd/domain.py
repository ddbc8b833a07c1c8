"""The quickadd domain itself."""

from __future__ import annotations

from knapper import Domain

quickadd = Domain("quickadd", summary="List and run QuickAdd choices, with Obsidian closed.", group="notes")
