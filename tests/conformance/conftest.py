from tests.dataview.recorded_vault import utc
from tests.known_vaults import generated
from tests.live_obsidian import obsidian

__all__ = ["generated", "obsidian", "utc"]
