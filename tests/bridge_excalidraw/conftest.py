from tests.obsidian import obsidian

__all__ = ["obsidian"]
