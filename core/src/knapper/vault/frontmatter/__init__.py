"""Frontmatter: reading it as Obsidian does, and changing it by splicing, never by dumping."""

from knapper.vault.frontmatter.block import Block, find
from knapper.vault.frontmatter.editing import (
    add_to_list,
    merge,
    read,
    remove_from_list,
    remove_key,
    replace_all,
    set_key,
)
from knapper.vault.frontmatter.errors import FrontmatterError
from knapper.vault.frontmatter.reading import load
from knapper.vault.frontmatter.strings import replace_strings

__all__ = [
    "Block",
    "FrontmatterError",
    "add_to_list",
    "find",
    "load",
    "merge",
    "read",
    "remove_from_list",
    "remove_key",
    "replace_all",
    "replace_strings",
    "set_key",
]
