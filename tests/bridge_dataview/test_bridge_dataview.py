from knapper_bridge_dataview import knapper_bridges
from tests.every_bridge import Ask, EveryBridge


class TestDataview(EveryBridge):
    bridge = knapper_bridges()
    key, plugin_id, capability = "dataview", "dataview", "dataview"
    asks = (
        Ask("dql", ("LIST", None), {}, "/dataview/dql", {"dql": "LIST"}),
        Ask("dql", ("TABLE a", "table"), {}, "/dataview/dql", {"dql": "TABLE a", "format": "table"}),
        Ask("validate", ("LIST FROM",), {}, "/dataview/validate", {"dql": "LIST FROM"}),
        Ask("eval", ("a.md", "x + 1"), {}, "/dataview/eval", {"path": "a.md", "expression": "x + 1"}),
    )
