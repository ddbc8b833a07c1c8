from tests.live_obsidian import obsidian

__all__ = ["obsidian"]
