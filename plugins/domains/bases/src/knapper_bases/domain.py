"""The bases domain itself."""

from __future__ import annotations

from knapper import Domain

bases = Domain("bases", summary="Read, change and query Obsidian's bases.", group="structured")
