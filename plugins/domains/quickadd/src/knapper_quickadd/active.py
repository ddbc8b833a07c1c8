"""Active: links to the note that is open in Obsidian, as far as the caller says which one that is."""

from __future__ import annotations

from urllib.parse import quote

from knapper import Context
from knapper.vault import paths
from knapper.vault.moves import link_format
from knapper.vault.resolve import Resolver, link_key


def link_to(ctx: Context, target: str, source: str, heading: str = "") -> str:
    """A link to a note as Obsidian is set to write it in another one."""
    markdown = ctx.vault.settings("app").get("useMarkdownLinks") is True
    resolver = Resolver([*ctx.index.named({link_key(target)}), target])
    written = resolver.shortest(target, source, link_format(ctx.vault), omit_md=not markdown)
    below = f"#{heading}" if heading else ""
    if not markdown:
        return f"[[{written}{below}]]"
    title = paths.name(target).rpartition(".")[0]
    return f"[{title}]({quote(written)}{quote(below, safe='#')})"
