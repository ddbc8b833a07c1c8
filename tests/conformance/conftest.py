from tests.dataview.recorded_vault import utc
from tests.obsidian import obsidian

__all__ = ["obsidian", "utc"]
