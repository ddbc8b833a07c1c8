"""Rewriting links: after moves, so that each goes on naming its file, and from one target to another."""

from knapper.vault.relink.canvas import canvas_names, relink_canvas, retarget_canvas
from knapper.vault.relink.notes import Moves, Relinked, relink
from knapper.vault.relink.retarget import Retarget, retarget

__all__ = [
    "Moves",
    "Relinked",
    "Retarget",
    "canvas_names",
    "relink",
    "relink_canvas",
    "retarget",
    "retarget_canvas",
]
