import threading

import pytest

from knapper import Caller, ToolError
from knapper.caller import LOCAL
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


def test_what_people_write_into_the_kept_part_is_put_below_it(call: Calls, vault: VaultFolder) -> None:
    number = entity(call, "Ann", "likes tea")
    path = "memory/person/Ann.md"
    vault[path] = vault[path].replace(
        "- likes tea\n", "- likes green tea\n  - since 2020\n- plays the flute\n"
    )
    call(memory, "add_observation", entity_id=number, observation="plays chess")
    part = "- likes tea\n- plays chess\n\n%% end of memory %%\n\n"
    assert vault[path].endswith(part + "- likes green tea\n  - since 2020\n- plays the flute\n")
    call(memory, "add_observation", entity_id=number, observation="sings")
    assert vault[path].count("- plays the flute\n") == 1
    assert "- likes tea\n- plays chess\n- sings\n" in vault[path]


def test_a_relation_that_was_taken_back_is_not_taken_for_a_persons_words(
    call: Calls, vault: VaultFolder
) -> None:
    ann, acme = entity(call, "Ann"), entity(call, "Acme", type="company")
    call(memory, "link_entities", source_id=ann, target_id=acme, relation_type="works_at")
    call(memory, "rename_entity", entity_id=acme, name="Acme Ltd")
    assert "- works_at [[memory/company/Acme|Acme Ltd]]\n" in vault["memory/person/Ann.md"]
    assert "|Acme]]" not in vault["memory/person/Ann.md"]
    call(memory, "unlink_entities", source_id=ann, target_id=acme)
    assert "works_at" not in vault["memory/person/Ann.md"]


def test_a_part_without_its_end_swallows_nothing(call: Calls, vault: VaultFolder) -> None:
    number = entity(call, "Ann", "likes tea")
    path = "memory/person/Ann.md"
    vault[path] = vault[path].replace("%% end of memory %%", "My own words.")
    for observation in ("plays chess", "sings"):
        call(memory, "add_observation", entity_id=number, observation=observation)
    assert vault[path].count("My own words.") == 1
    assert vault[path].endswith("- likes tea\n- plays chess\n- sings\n\n%% end of memory %%\n")


def test_a_note_that_a_person_moved_is_kept_up_to_date_where_it_is(call: Calls, vault: VaultFolder) -> None:
    number = entity(call, "Ann", "likes tea")
    text = vault["memory/person/Ann.md"]
    del vault["memory/person/Ann.md"]
    vault["People/Ann of Bern.md"] = text
    call(memory, "add_observation", entity_id=number, observation="plays chess")
    assert "memory/person/Ann.md" not in vault
    assert "- likes tea\n- plays chess\n" in vault["People/Ann of Bern.md"]
    assert call(memory, "get_entity", entity_id=number)["vault_path"] == "People/Ann of Bern.md"


def test_a_moved_note_that_is_not_in_the_index_yet_gets_no_second_beside_it(
    call: Calls, vault: VaultFolder
) -> None:
    number = entity(call, "Ann", "likes tea")
    text = vault["memory/person/Ann.md"]
    del vault["memory/person/Ann.md"]
    vault["People/Ann.md"] = text
    runtime = call.runtime(memory)
    runtime.vaults.get("main").index.db.begin_anew()
    given = {"entity_id": number, "observation": "plays chess"}
    outcome = runtime.call("add_observation", given, Caller("test", LOCAL, authenticated=True))
    assert outcome.error is None
    assert "memory/person/Ann.md" not in vault
    assert "- likes tea\n- plays chess\n" in vault["People/Ann.md"]


def test_two_names_that_make_one_file_name_have_notes_of_their_own(call: Calls, vault: VaultFolder) -> None:
    one = call(memory, "create_entity", type="person", name="A/B", observations=["first"])
    two = call(memory, "create_entity", type="person", name="A:B", observations=["second"])
    assert one["vault_path"] == "memory/person/A-B.md"
    assert two["vault_path"] == f"memory/person/A-B {two['entity_id'][-6:]}.md"
    assert ("- first" in vault[one["vault_path"]], "- second" in vault[two["vault_path"]]) == (True, True)


def test_of_many_that_remember_one_name_at_once_one_does(call: Calls, vault: VaultFolder) -> None:
    runtime = call.runtime(memory)
    caller = Caller("ann", LOCAL, authenticated=True)
    ready, ends = threading.Barrier(6), list[str]()

    def create() -> None:
        ready.wait()
        outcome = runtime.call("create_entity", {"type": "person", "name": "Ann"}, caller)
        ends.append(outcome.error["code"] if outcome.error else "ok")

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["invalid_input"] * 5 + ["ok"]
    assert list(vault) == ["memory/person/Ann.md"]


def test_what_is_remembered_survives_the_loss_of_the_index(call: Calls, vault: VaultFolder) -> None:
    number = entity(call, "Ann", "likes tea")
    for one in call.runtime(memory).vaults:
        one.index.clear()
    assert call(memory, "get_entity", entity_id=number)["observations"] == ["likes tea"]


def test_memories_of_vaults_are_apart(call: Calls, vault: VaultFolder) -> None:
    (vault.path.parent / "other").mkdir()
    call.settings["vaults"] = [
        {"id": "main", "path": str(vault.path)},
        {"id": "other", "path": str(vault.path.parent / "other")},
    ]
    number = entity(call, "Ann")
    for arguments in ({"entity_id": number}, {"type": "person", "name": "Ann"}):
        with pytest.raises(ToolError) as refused:
            call(memory, "get_entity", vault="other", **arguments)
        assert refused.value.code == "invalid_input"


def test_linking_again_tells_since_when(call: Calls, vault: VaultFolder) -> None:
    a, b = entity(call, "A"), entity(call, "B")
    runtime = call.runtime(memory)
    runtime.clock = lambda: 1_000_000.0
    first = call(memory, "link_entities", source_id=a, target_id=b, relation_type="knows")
    runtime.clock = lambda: 2_000_000.0
    again = call(memory, "link_entities", source_id=a, target_id=b, relation_type="knows")
    assert again == {**first, "existed_already": True}


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


def test_where_a_note_cannot_be_written_nothing_is_learnt(call: Calls, vault: VaultFolder) -> None:
    call.settings["acl"] = {"write_paths": ["memory/**"]}
    ann, acme = entity(call, "Ann", "likes tea"), entity(call, "Acme", type="company")
    bob = entity(call, "Bob")
    call(memory, "link_entities", source_id=ann, target_id=bob, relation_type="knows")
    vault["closed/Acme.md"] = vault[
        "memory/company/Acme.md"
    ]  # a person moves it where nothing may be written
    del vault["memory/company/Acme.md"]
    before = {path: vault[path] for path in vault}
    for tool, arguments in (
        ("add_observation", {"entity_id": acme, "observation": "makes anvils"}),
        ("link_entities", {"source_id": ann, "target_id": acme, "relation_type": "works_at"}),
    ):
        with pytest.raises(ToolError) as refused:
            call(memory, tool, **arguments)
        assert refused.value.code == "acl_denied"
    assert {path: vault[path] for path in vault} == before
    assert call(memory, "get_entity", entity_id=acme)["observations"] == []
    assert [one["target_name"] for one in call(memory, "get_entity", entity_id=ann)["relations"]] == ["Bob"]


def test_a_name_that_is_no_file_name_is_made_one(call: Calls, vault: VaultFolder) -> None:
    assert call(memory, "create_entity", type="a/b", name="C: D?")["vault_path"] == "memory/a-b/C- D-.md"


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(memory)
