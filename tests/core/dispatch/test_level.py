"""A change that follows from the index misses no file, however early it comes."""

from __future__ import annotations

from knapper import Context, DeletePath, Domain, WritePath
from knapper.caller import LOCAL, Caller
from knapper.testing import Calls, VaultFolder
from knapper.vault.moves import move_files

mover = Domain("mover", summary="Moves notes.")


@mover.tool("write:notes", "delete:notes", reach="notes that link to it")
def shift(ctx: Context, source: DeletePath, target: WritePath) -> int:
    """Move a note, and say how many links were rewritten."""
    return move_files(ctx.vault, ctx.index, {source: target}).links


def test_a_move_before_the_first_comparison_rewrites_every_link(call: Calls, vault: VaultFolder) -> None:
    vault["Hub.md"] = ""
    for number in range(30):
        vault[f"friend {number}.md"] = "see [[Hub]]"
    runtime = call.runtime(mover)  # nothing is indexed yet, and nobody has begun to
    caller = Caller("test", LOCAL, authenticated=True)
    outcome = runtime.call("shift", {"source": "Hub.md", "target": "Spoke.md"}, caller)
    assert outcome.payload == b'{"result":30}'
    assert {vault[f"friend {number}.md"] for number in range(30)} == {"see [[Spoke]]"}
