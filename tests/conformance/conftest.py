from tests.dataview.recorded_vault import utc
from tests.live_obsidian import obsidian

__all__ = ["obsidian", "utc"]
