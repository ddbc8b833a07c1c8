import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_memory import memory


def entity(call: Calls, name: str, *observations: str, type: str = "person") -> str:
    return str(
        call(memory, "create_entity", type=type, name=name, observations=list(observations))["entity_id"]
    )


def test_an_entity_is_remembered_and_has_a_note(call: Calls, vault: VaultFolder) -> None:
    number = entity(call, "Ann", "likes tea", "lives in Bern")
    known = call(memory, "get_entity", type="person", name="Ann")
    assert (known["entity_id"], known["observations"], known["status"]) == (
        number,
        ["likes tea", "lives in Bern"],
        "active",
    )
    assert known["vault_path"] == "memory/person/Ann.md"
    assert "- likes tea\n- lives in Bern\n" in vault["memory/person/Ann.md"]


def test_what_people_write_in_the_note_stays(call: Calls, vault: VaultFolder) -> None:
    number = entity(call, "Ann", "likes tea")
    path = "memory/person/Ann.md"
    vault[path] = vault[path].replace("# Ann\n", "# Ann\n\nMy own words.\n") + "\nAnd more below.\n"
    call(memory, "add_observation", entity_id=number, observation="plays chess")
    text = vault[path]
    assert "My own words.\n" in text
    assert text.endswith("\nAnd more below.\n")
    assert "- likes tea\n- plays chess\n" in text


def test_a_note_whose_part_was_removed_gets_it_back_at_the_end(call: Calls, vault: VaultFolder) -> None:
    number = entity(call, "Ann", "likes tea")
    vault["memory/person/Ann.md"] = "all mine"
    call(memory, "add_observation", entity_id=number, observation="plays chess")
    assert vault["memory/person/Ann.md"].startswith("all mine\n\n%% memory:")


def test_the_same_observation_is_kept_once(call: Calls, vault: VaultFolder) -> None:
    number = entity(call, "Ann", "likes tea")
    again = call(memory, "add_observation", entity_id=number, observation="likes tea")
    assert (again["added"], again["observation_count"]) == (False, 1)


def test_a_name_is_taken_once_for_each_type(call: Calls, vault: VaultFolder) -> None:
    entity(call, "Ann")
    entity(call, "Ann", type="ship")
    with pytest.raises(ToolError) as refused:
        entity(call, "Ann")
    assert refused.value.code == "invalid_input"


def test_relations_are_seen_from_both_ends_and_in_the_notes(call: Calls, vault: VaultFolder) -> None:
    ann, acme = entity(call, "Ann"), entity(call, "Acme", type="company")
    linked = call(memory, "link_entities", source_id=ann, target_id=acme, relation_type="works_at")
    assert linked["existed_already"] is False
    assert (
        call(memory, "link_entities", source_id=ann, target_id=acme, relation_type="works_at")[
            "existed_already"
        ]
        is True
    )
    assert call(memory, "get_entity", entity_id=acme)["relations"] == [
        {"target_id": ann, "target_name": "Ann", "relation_type": "works_at", "direction": "in"}
    ]
    assert "- works_at [[memory/company/Acme|Acme]]\n" in vault["memory/person/Ann.md"]
    call(memory, "unlink_entities", source_id=ann, target_id=acme)
    assert "works_at" not in vault["memory/person/Ann.md"]


def test_the_graph_is_walked_to_its_depth_with_the_way(call: Calls, vault: VaultFolder) -> None:
    a, b, c, d = (entity(call, name) for name in "ABCD")
    for source, target in ((a, b), (b, c), (c, d), (d, a)):
        call(memory, "link_entities", source_id=source, target_id=target, relation_type="knows")
    found = call(memory, "query_entity_graph", seed_entity_id=a, direction="out")
    assert [(i["name"], i["distance"]) for i in found["items"]] == [("B", 1), ("C", 2)]
    assert found["items"][1]["path"] == [
        {"via_entity_id": a, "via_relation": "knows"},
        {"via_entity_id": b, "via_relation": "knows"},
    ]
    assert call(memory, "query_entity_graph", seed_entity_id=a, relation_types=["hates"])["total_count"] == 0


def test_a_retired_entity_is_not_recalled_unless_asked_for(call: Calls, vault: VaultFolder) -> None:
    number = entity(call, "Ann")
    call(memory, "rename_entity", entity_id=number, name="Anna", status="retired")
    with pytest.raises(ToolError):
        call(memory, "get_entity", entity_id=number)
    assert call(memory, "get_entity", entity_id=number, include_retired=True)["name"] == "Anna"


def test_forgetting_needs_a_person_and_cascade_where_there_are_relations(
    call: Calls, vault: VaultFolder
) -> None:
    a, b = entity(call, "A"), entity(call, "B")
    call(memory, "link_entities", source_id=a, target_id=b, relation_type="knows")
    with pytest.raises(ToolError) as refused:
        call.confirmed(memory, "delete_entity", entity_id=a)
    assert refused.value.code == "invalid_input"
    gone = call.confirmed(memory, "delete_entity", entity_id=a, cascade=True)
    assert gone["relations_removed"] == 1
    assert call(memory, "get_entity", entity_id=b)["relations"] == []
    assert "memory/person/A.md" in vault


def test_a_folder_that_may_not_be_written_refuses_before_anything_is_remembered(
    call: Calls, vault: VaultFolder
) -> None:
    call.settings["acl"] = {"write_paths": ["open/**"]}
    with pytest.raises(ToolError) as refused:
        entity(call, "Ann")
    assert refused.value.code == "acl_denied"
    with pytest.raises(ToolError):
        call(memory, "get_entity", type="person", name="Ann")
    call(memory, "create_entity", type="person", name="Ann", materialize=False)


def test_a_name_that_is_no_file_name_is_made_one(call: Calls, vault: VaultFolder) -> None:
    assert call(memory, "create_entity", type="a/b", name="C: D?")["vault_path"] == "memory/a-b/C- D-.md"


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(memory)
