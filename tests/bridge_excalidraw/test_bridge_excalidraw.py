from knapper_bridge_excalidraw import knapper_bridges
from tests.every_bridge import Ask, EveryBridge


class TestExcalidraw(EveryBridge):
    bridge = knapper_bridges()
    key, plugin_id, capability = "excalidraw", "obsidian-excalidraw-plugin", "excalidraw"
    asks = (
        Ask(
            "read",
            ("d.excalidraw.md",),
            {"format": "both"},
            "/excalidraw/read",
            {"path": "d.excalidraw.md", "format": "both"},
        ),
    )
