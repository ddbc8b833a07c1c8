"""Tasks: read, change and query the tasks of a vault as the Obsidian Tasks plugin does."""
