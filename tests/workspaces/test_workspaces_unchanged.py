"""Whatever a file of workspaces holds, an edit that changes nothing writes the same bytes."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper.testing import Calls, VaultFolder
from knapper_workspaces import workspaces
from tests.odd_json import TEXT, VALUE, files

FILE = ".obsidian/workspaces.json"
LAYOUT = st.fixed_dictionaries(
    {}, optional={"main": VALUE, "left": VALUE, "mtime": TEXT, "active": TEXT, "left-ribbon": VALUE}
)
STORED = st.builds(
    lambda others, mine, more: {"workspaces": {**others, "mine": mine}, **more, "active": "mine"},
    st.dictionaries(TEXT, LAYOUT, max_size=3),
    LAYOUT,
    st.dictionaries(TEXT.map("x{}".format), VALUE, max_size=2),
)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files(STORED))
def test_opening_what_is_open_writes_the_same_bytes(call: Calls, vault: VaultFolder, text: str) -> None:
    vault[FILE] = text
    names = [one["name"] for one in call(workspaces, "list_workspaces")["workspaces"]]
    assert call(workspaces, "open_workspace", name="mine")["prior_workspace"] == "mine"
    assert vault.bytes(FILE) == text.encode()
    call(workspaces, "open_workspace", name=next((name for name in names if name), "mine"))
    call(workspaces, "open_workspace", name="mine")
    assert vault.bytes(FILE) == text.encode()
