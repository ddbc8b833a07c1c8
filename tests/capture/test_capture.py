import pytest

from knapper import Caller, ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_capture import capture


def test_what_is_captured_waits_in_order(call: Calls, vault: VaultFolder) -> None:
    for text in ("first", "second", "third"):
        call(capture, "enqueue_capture", content=text, tags=["idea"], source="phone")
    first = call(capture, "list_capture_queue", limit=2)
    second = call(capture, "list_capture_queue", limit=2, cursor=first["cursor"])
    assert [i["content_preview"] for i in first["items"] + second["items"]] == ["first", "second", "third"]
    assert (first["total_count"], first["items"][0]["tags"]) == (3, ["idea"])
    assert call(capture, "list_capture_queue", source="mail")["total_count"] == 0


def test_a_capture_becomes_a_note_and_leaves_the_inbox(call: Calls, vault: VaultFolder) -> None:
    number = call(capture, "enqueue_capture", content="text", title="T", tags=["a", "b"])["capture_id"]
    call(
        capture, "commit_capture", capture_id=number, target_path="Inbox/t.md", frontmatter_overrides={"x": 1}
    )
    assert vault["Inbox/t.md"] == "---\ntitle: T\ntags:\n  - a\n  - b\nx: 1\n---\ntext\n"
    assert call(capture, "list_capture_queue")["total_count"] == 0
    with pytest.raises(ToolError) as refused:
        call(capture, "commit_capture", capture_id=number, target_path="Inbox/again.md")
    assert refused.value.code == "invalid_input"


def test_a_committed_capture_can_stay_in_the_list(call: Calls, vault: VaultFolder) -> None:
    number = call(capture, "enqueue_capture", content="text")["capture_id"]
    call(capture, "commit_capture", capture_id=number, target_path="Inbox/t.md", delete_from_queue=False)
    assert call(capture, "list_capture_queue")["total_count"] == 0
    assert call(capture, "list_capture_queue", committed=True)["items"][0]["committed_at"]


def test_a_target_outside_the_capture_folders_needs_a_person(call: Calls, vault: VaultFolder) -> None:
    call.settings["capture"] = {"folders": ["In"]}
    number = call(capture, "enqueue_capture", content="text")["capture_id"]
    with pytest.raises(ToolError) as refused:
        call(capture, "commit_capture", capture_id=number, target_path="Inbox/t.md")
    assert refused.value.code == "elicit_required"
    call.confirmed(capture, "commit_capture", capture_id=number, target_path="Inbox/t.md")
    assert vault["Inbox/t.md"] == "text\n"


def test_a_taken_target_keeps_the_capture_waiting(call: Calls, vault: VaultFolder) -> None:
    vault["Inbox/t.md"] = "there"
    number = call(capture, "enqueue_capture", content="text")["capture_id"]
    with pytest.raises(ToolError) as refused:
        call(capture, "commit_capture", capture_id=number, target_path="Inbox/t.md")
    assert refused.value.code == "note_exists"
    assert call(capture, "list_capture_queue")["total_count"] == 1


def test_the_same_key_captures_once(call: Calls, vault: VaultFolder) -> None:
    one = call(capture, "enqueue_capture", content="text", idempotency_key="k")
    assert call(capture, "enqueue_capture", content="text", idempotency_key="k") == one
    assert call(capture, "list_capture_queue")["total_count"] == 1


def test_inboxes_of_vaults_are_apart(call: Calls, vault: VaultFolder) -> None:
    (vault.path.parent / "other").mkdir()
    call.settings["vaults"] = [
        {"id": "main", "path": str(vault.path)},
        {"id": "other", "path": str(vault.path.parent / "other")},
    ]
    number = call(capture, "enqueue_capture", content="text", vault="other")["capture_id"]
    assert call(capture, "list_capture_queue")["total_count"] == 0
    with pytest.raises(ToolError):
        call(capture, "commit_capture", capture_id=number, target_path="Inbox/t.md", vault="main")


def test_what_waits_survives_the_loss_of_the_index(call: Calls, vault: VaultFolder) -> None:
    call(capture, "enqueue_capture", content="text")
    for one in call.runtime(capture).vaults:
        one.index.clear()
    assert call(capture, "list_capture_queue")["total_count"] == 1


def test_reading_does_not_allow_capturing(call: Calls, vault: VaultFolder) -> None:
    call.caller = Caller("ann", frozenset({"read:*"}), authenticated=True)
    with pytest.raises(ToolError) as refused:
        call(capture, "enqueue_capture", content="text")
    assert refused.value.code == "forbidden"


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(capture)
