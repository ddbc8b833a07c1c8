from knapper_bridge_templater import knapper_bridges
from tests.every_bridge import Ask, EveryBridge


class TestTemplater(EveryBridge):
    bridge = knapper_bridges()
    key, plugin_id, capability = "templater", "templater-obsidian", "templater"
    timeout = "templater_timeout_ms"
    acts = frozenset({"execute"})
    asks = (
        Ask("list", (), {}, "/templater/list", {}),
        Ask(
            "execute",
            ("T/Day.md", "Day.md", False, {"mood": "good"}),
            {},
            "/templater/execute",
            {"template": "T/Day.md", "target": "Day.md", "overwrite": False, "args": {"mood": "good"}},
        ),
    )
