from __future__ import annotations

from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_properties import properties
from tests.known_vaults import Known


def find(call: Calls, *filter: tuple[Any, ...], **more: Any) -> list[str]:
    wanted = [dict(zip(("key", "op", "value"), one, strict=False)) for one in filter]
    page = call(properties, "find_notes_by_property", filter=wanted, **more)
    assert page["total_count"] == len(page["items"])
    return [item["path"].removesuffix(".md") for item in page["items"]]


@pytest.fixture
def books(vault: VaultFolder) -> VaultFolder:
    vault["a.md"] = "---\nstatus: active\nrating: 5\ndue: 2026-01-05\ntags: [x, y]\nok: true\n---\n"
    vault["b.md"] = (
        "---\nStatus: Active reading\nrating: 10\ndue: 2026-01-05T10:00\ntags: y\nok: false\n---\n"
    )
    vault["sub/c.md"] = "---\nstatus:\nrating: '7'\ndue: someday\nmeta: {year: 1999, list: [1, 2]}\n---\n"
    vault["sub/d.md"] = "no properties"
    vault["e.md"] = "---\nbroken: [\n---\n"
    return vault


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (("status", "eq", "active"), ["a"]),
        (("STATUS", "eq", "active"), ["a"]),
        (("status", "eq", None), ["sub/c"]),
        (("status", "exists"), ["a", "b", "sub/c"]),
        (("status", "absent"), ["e", "sub/d"]),
        (("status", "neq", "active"), ["b", "e", "sub/c", "sub/d"]),
        (("status", "in", ["active", "done"]), ["a"]),
        (("status", "in", []), []),
        (("status", "nin", ["active", None]), ["b", "e", "sub/d"]),
        (("status", "contains", "READ"), ["b"]),
        (("rating", "gt", 5), ["b"]),
        (("rating", "gte", 5), ["a", "b"]),
        (("rating", "lt", 10), ["a"]),
        (("rating", "eq", 5), ["a"]),
        (("rating", "eq", "7"), ["sub/c"]),
        (("due", "eq", "2026-01-05"), ["a"]),
        (("due", "gt", "2026-01-05"), ["b"]),
        (("due", "gte", "2026-01-01"), ["a", "b"]),
        (("due", "lt", "2027-01-01"), ["a", "b"]),
        (("tags", "contains", "y"), ["a", "b"]),
        (("tags", "eq", "x"), ["a"]),
        (("ok", "eq", True), ["a"]),
        (("ok", "eq", 1), []),
    ],
)
def test_notes_are_found_by_one_condition(
    call: Calls, books: VaultFolder, filter: tuple[Any, ...], expected: list[str]
) -> None:
    assert find(call, filter) == expected
    nested = find(call, filter, ("no.where", "absent"), nested=True)
    assert nested == expected  # the same rules where keys are paths


def test_all_conditions_hold_at_once(call: Calls, books: VaultFolder) -> None:
    assert find(call, ("rating", "gte", 5), ("ok", "eq", False)) == ["b"]
    assert find(call, ("status", "exists"), root="sub") == ["sub/c"]


def test_keys_inside_keys_are_paths_on_request(call: Calls, books: VaultFolder) -> None:
    assert find(call, ("meta.year", "lt", 2000), nested=True) == ["sub/c"]
    assert find(call, ("meta.list", "contains", 2), nested=True) == ["sub/c"]
    assert find(call, ("meta.year", "exists")) == []


def test_the_values_that_were_asked_about_come_along(call: Calls, books: VaultFolder) -> None:
    got = call(
        properties,
        "find_notes_by_property",
        filter=[{"key": "status", "op": "contains", "value": "a"}, {"key": "rating", "op": "exists"}],
    )
    assert got["items"] == [
        {"path": "a.md", "matched_values": {"status": "active", "rating": 5}},
        {"path": "b.md", "matched_values": {"Status": "Active reading", "rating": 10}},
    ]
    terse = call(
        properties,
        "find_notes_by_property",
        filter=[{"key": "ok", "op": "eq", "value": True}],
        verbosity="terse",
    )
    assert terse == {"items": [{"path": "a.md"}], "total_count": 1}


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        ({"key": "a", "op": "eq"}, "filter on 'a': eq needs a value"),
        ({"key": "a", "op": "in", "value": "x"}, "filter on 'a': in takes a list"),
        ({"key": "a", "op": "gt", "value": None}, "filter on 'a': nothing is gt null"),
        (
            {"key": "a", "op": "eq", "value": [1]},
            "filter on 'a': a property is compared with a text, a number, true or false",
        ),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_a_condition_that_makes_no_sense_is_refused(
    call: Calls, filter: dict[str, Any], message: str, nested: bool
) -> None:
    with pytest.raises(ToolError) as error:
        call(
            properties,
            "find_notes_by_property",
            filter=[filter, {"key": "x.y", "op": "absent"}],
            nested=nested,
        )
    assert (error.value.code, error.value.message) == ("invalid_input", message)


def test_an_unknown_operator_is_not_valid(call: Calls) -> None:
    with pytest.raises(ToolError) as error:
        call(properties, "find_notes_by_property", filter=[{"key": "a", "op": "like", "value": 1}])
    assert error.value.code == "validation_error"


def test_the_properties_in_use_are_listed(call: Calls, books: VaultFolder) -> None:
    got = call(properties, "list_properties")
    assert got["total_count"] == 6
    listed = {item["key"].lower(): item for item in got["items"]}
    assert list(listed) == ["due", "meta", "ok", "rating", "status", "tags"]
    assert listed["rating"]["types"] == ["number", "text"]
    assert listed["rating"]["note_count"] == 3
    assert sorted(map(str, listed["rating"]["sample_values"])) == ["10", "5", "7"]
    assert listed["due"]["types"] == ["date", "datetime", "text"]
    assert listed["ok"]["types"] == ["checkbox"]
    assert sorted(listed["tags"]["sample_values"]) == ["x", "y"]
    assert listed["status"]["note_count"] == 3


def test_samples_and_pages_have_the_size_asked_for(call: Calls, books: VaultFolder) -> None:
    first = call(properties, "list_properties", limit=4, sample_size=1)
    assert [len(item["sample_values"]) for item in first["items"]] == [1, 0, 1, 1]
    rest = call(properties, "list_properties", limit=4, sample_size=1, cursor=first["cursor"])
    assert [item["key"].lower() for item in rest["items"]] == ["status", "tags"]
    below = call(properties, "list_properties", root="sub", verbosity="terse")
    assert [item["key"].lower() for item in below["items"]] == ["due", "meta", "rating", "status"]


def test_a_restricted_caller_counts_permitted_notes_only(call: Calls, books: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["sub/**"]}}
    assert find(call, ("status", "exists")) == ["sub/c"]
    assert find(call, ("status", "neq", "active")) == ["sub/c", "sub/d"]
    assert find(call, ("meta.year", "absent"), nested=True) == ["sub/d"]
    got = call(properties, "list_properties")
    assert got["total_count"] == 4
    rating = next(item for item in got["items"] if item["key"] == "rating")
    assert (rating["note_count"], rating["sample_values"]) == (1, ["7"])


def test_the_generated_vault_has_what_its_manifest_says(generated: Known) -> None:
    truth = generated.truth["property"]

    def count(*filter: Any) -> int:
        wanted = [dict(zip(("key", "op", "value"), one, strict=False)) for one in filter]
        page = generated.call(properties, "find_notes_by_property", filter=wanted, limit=5)
        assert len(page["items"]) <= 5
        return int(page["total_count"])

    assert count(("status", "eq", "active")) == truth["status_active"]
    assert count(("status", "exists")) == truth["status_any"]
    assert count(("rating", "eq", 5)) == truth["rating_5"]
    listed = generated.call(properties, "list_properties", limit=1000)["items"]
    status = next(item for item in listed if item["key"] == "status")
    assert status["note_count"] == truth["status_any"]


def test_pages_of_a_nested_search_follow_each_other(call: Calls, vault: VaultFolder) -> None:
    for n in range(5):
        vault[f"{n}.md"] = f"---\na: {{b: {n}}}\n---\n"
    search = {"filter": [{"key": "a.b", "op": "gte", "value": 1}], "nested": True, "limit": 3}
    first = call(properties, "find_notes_by_property", **search)
    rest = call(properties, "find_notes_by_property", cursor=first["cursor"], **search)
    assert first["total_count"] == rest["total_count"] == 4
    assert [item["path"] for item in first["items"] + rest["items"]] == [*("1.md", "2.md", "3.md", "4.md")]
