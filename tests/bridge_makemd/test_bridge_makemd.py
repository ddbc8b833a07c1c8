from knapper_bridge_makemd import knapper_bridges
from tests.every_bridge import Ask, EveryBridge


class TestMakemd(EveryBridge):
    bridge = knapper_bridges()
    key, plugin_id, capability = "makemd", "make-md", "make-md"
    asks = (
        Ask("spaces", (), {}, "/makemd/spaces", {}),
        Ask(
            "query",
            ("Projects", None, None),
            {"limit": 10, "cursor": None},
            "/makemd/query",
            {"space_id": "Projects", "limit": 10},
        ),
    )
