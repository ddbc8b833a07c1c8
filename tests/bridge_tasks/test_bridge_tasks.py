from knapper_bridge_tasks import knapper_bridges
from tests.every_bridge import Ask, EveryBridge


class TestTasks(EveryBridge):
    bridge = knapper_bridges()
    key, plugin_id, capability = "tasks", "obsidian-tasks-plugin", "tasks"
    asks = (
        Ask(
            "filter",
            ("not done",),
            {"limit": 5, "cursor": None},
            "/tasks/filter",
            {"filter": "not done", "limit": 5},
        ),
        Ask(
            "filter",
            ("done\nsort by due",),
            {"limit": 100, "cursor": "7"},
            "/tasks/filter",
            {"filter": "done\nsort by due", "limit": 100, "cursor": "7"},
        ),
    )
