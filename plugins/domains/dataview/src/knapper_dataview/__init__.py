"""Dataview without Obsidian: its query language over a folder of notes."""
