"""Rewriting links: after moves, so that each goes on naming its file, and from one target to another."""

from knapper.vault.relink.canvas import relink_canvas
from knapper.vault.relink.notes import Moves, Relinked, relink, rewrite_targets

__all__ = ["Moves", "Relinked", "relink", "relink_canvas", "rewrite_targets"]
