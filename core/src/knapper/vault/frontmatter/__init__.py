"""Frontmatter: reading it as Obsidian does, and changing it by splicing, never by dumping."""

from knapper.vault.frontmatter.errors import FrontmatterError
from knapper.vault.frontmatter.reading import load

__all__ = ["FrontmatterError", "load"]
