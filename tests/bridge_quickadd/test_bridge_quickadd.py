from knapper_bridge_quickadd import knapper_bridges
from tests.every_bridge import Ask, EveryBridge


class TestQuickadd(EveryBridge):
    bridge = knapper_bridges()
    key, plugin_id, capability = "quickadd", "quickadd", "quickadd"
    acts = frozenset({"trigger"})
    asks = (
        Ask("actions", (), {}, "/quickadd/actions", {}),
        Ask(
            "trigger",
            ("Inbox", {"value": "milk"}),
            {},
            "/quickadd/trigger",
            {"action_name": "Inbox", "args": {"value": "milk"}},
        ),
    )
