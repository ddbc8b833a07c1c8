"""Bases: Obsidian's .base files, read, written and evaluated natively."""
