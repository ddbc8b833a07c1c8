"""From a function's signature to what clients send: names, types, limits, paths, and every mistake by its field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest

from knapper import Alias, Context, Doc, Domain, Page, ReadPath, Record, ToolError, WritePath
from knapper.errors import PluginError
from knapper.testing import Calls, VaultFolder

box = Domain("box", summary="Tools with every kind of parameter.")


class Move(msgspec.Struct):
    source: ReadPath
    target: WritePath | None = None
    how: Literal["by hand", "by cart"] | None = None


class Plan(msgspec.Struct):
    moves: list[Move]
    name: str = "plan"
    days: dict[str, Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]] = {}


@box.tool("read:notes")
def order(
    ctx: Context,
    kind: Annotated[Literal["small", "large"], Doc("How large.")],
    count: Annotated[int, Doc("How many.", ge=1, le=50), Alias("amount", "n")] = 1,
    from_: Annotated[str | None, Doc("Where from.", min_length=2)] = None,
    tags: list[str] = [],  # noqa: B006 (msgspec copies it)
) -> dict[str, Any]:
    """Order something."""
    tags.append("seen")
    return {"kind": kind, "count": count, "from": from_, "tags": tags}


@box.tool("read:notes", "write:notes")
def carry_out(ctx: Context, plan: Plan, also: list[ReadPath] | None = None) -> list[str]:
    """Say which paths a plan touches."""
    return [move.source for move in plan.moves] + (also or [])


@box.tool("read:notes")
def leaf(ctx: Context, page: Page = Page(limit=2)) -> Page.Of[str]:
    """Leaf through the alphabet."""
    return page.cut("abcdef", key=str)


class Node(Record):
    name: str
    children: list[Node] | None = None


@box.tool(vault=False)
def grow(ctx: Context) -> Node:
    """Grow a tree."""
    return Node(name="root")


@box.tool("write:notes", repeat="keyed")
def once(ctx: Context, text: str) -> str:
    """Do it once."""
    return text


def issues(call: Calls, tool: str, **arguments: Any) -> list[tuple[str, str]]:
    with pytest.raises(ToolError) as raised:
        call(box, tool, **arguments)
    assert raised.value.code == "validation_error"
    return [(issue["field"], issue["message"]) for issue in raised.value.details["issues"]]


def test_arguments_arrive_with_their_defaults(call: Calls) -> None:
    assert call(box, "order", kind="small") == {"kind": "small", "count": 1, "from": None, "tags": ["seen"]}


def test_a_default_that_a_tool_changes_is_fresh_for_the_next_call(call: Calls) -> None:
    call(box, "order", kind="small")
    assert call(box, "order", kind="small")["tags"] == ["seen"]


@pytest.mark.parametrize("name", ["count", "amount", "n"])
def test_a_parameter_is_accepted_under_each_of_its_names(call: Calls, name: str) -> None:
    assert call(box, "order", kind="small", **{name: 7})["count"] == 7


def test_a_parameter_under_two_of_its_names_is_refused(call: Calls) -> None:
    (issue,) = issues(call, "order", kind="small", count=1, amount=2)
    assert issue[0] == "amount"


def test_a_name_that_is_a_keyword_of_python_is_sent_without_its_underscore(call: Calls) -> None:
    assert call(box, "order", kind="small", from_="here")["from"] == "here"
    assert "from" in box.tools["order"].input_schema["properties"]


def test_every_mistake_is_named_by_its_field(call: Calls) -> None:
    assert issues(call, "order", count=51, from_="x", tags=["a", 5], knid="small") == [
        ("knid", "is not a parameter; did you mean 'kind'?"),
        ("kind", "is required"),
        ("count", "Expected 'int' <= 50"),
        ("from", "Expected 'str' of length >= 2"),
        ("tags", "Expected 'str', got 'int' - at '$[1]'"),
    ]


def test_a_value_outside_a_choice_is_refused(call: Calls) -> None:
    message = "Invalid enum value 'huge', expected one of 'large', 'small'"
    assert issues(call, "order", kind="huge") == [("kind", message)]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (
            {"moves": [{"source": "a.md", "how": "by air"}]},
            "Invalid enum value 'by air', expected one of 'by cart', 'by hand' - at '$.moves[0].how'",
        ),
        (
            {"moves": [], "days": {"start": "tomorrow"}},
            "Expected 'str' of the form YYYY-MM-DD - at '$.days[...]'",
        ),
    ],
)
def test_a_choice_or_a_date_deep_inside_says_what_would_fit(
    call: Calls, plan: dict[str, Any], message: str
) -> None:
    assert issues(call, "carry_out", plan=plan) == [("plan", message)]


def test_a_value_that_is_no_object_is_told_what_the_object_has(call: Calls) -> None:
    message = "Expected 'object', got 'str'; its fields are moves, name, days"
    assert issues(call, "carry_out", plan="the red one first") == [("plan", message)]


def test_who_sends_what_no_parameter_is_like_reads_which_there_are(call: Calls) -> None:
    with pytest.raises(ToolError) as raised:
        call(box, "order", size="small")
    assert raised.value.message == (
        "size: is not a parameter; kind: is required; it takes kind, count, from, tags, vault"
    )


def test_a_mistake_deep_inside_says_where(call: Calls, vault: VaultFolder) -> None:
    (issue,) = issues(call, "carry_out", plan={"moves": [{"source": 5}]})
    assert issue == ("plan", "Expected 'str', got 'int' - at '$.moves[0].source'")


def test_paths_are_found_however_deep_they_lie(call: Calls, vault: VaultFolder) -> None:
    vault["open/a.md"] = vault["shut/b.md"] = ""
    call.settings = {"acl": {"read_paths": ["open/**"]}}
    good = {"moves": [{"source": "./open//a.md"}]}
    assert call(box, "carry_out", plan=good, also=["open/a.md"]) == ["open/a.md", "open/a.md"]
    for arguments in (
        {"plan": {"moves": [{"source": "open/a.md"}, {"source": "shut/b.md"}]}},
        {"plan": good, "also": ["shut/b.md"]},
    ):
        with pytest.raises(ToolError) as raised:
            call(box, "carry_out", **arguments)
        assert (raised.value.code, raised.value.details["path"]) == ("acl_denied", "shut/b.md")


def test_a_path_that_will_be_written_needs_the_right_to_write_it(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = ""
    call.settings = {"acl": {"write_paths": ["mine/**"]}}
    with pytest.raises(ToolError) as raised:
        call(box, "carry_out", plan={"moves": [{"source": "a.md", "target": "theirs/b.md"}]})
    assert raised.value.details == {"path": "theirs/b.md", "op": "write"}


def test_a_page_becomes_a_limit_and_a_cursor(call: Calls) -> None:
    properties = box.tools["leaf"].input_schema["properties"]
    assert set(properties) == {"limit", "cursor", "vault"}
    assert properties["limit"] == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 2}
    assert call(box, "leaf")["items"] == ["a", "b"]


def test_a_keyed_tool_takes_a_key_and_every_tool_of_a_vault_takes_its_id() -> None:
    assert set(box.tools["once"].input_schema["properties"]) == {"text", "idempotency_key", "vault"}
    assert box.tools["once"].input_schema["properties"]["idempotency_key"]["maxLength"] == 128


def test_the_input_schema_is_what_a_client_needs_and_no_more() -> None:
    assert box.tools["order"].input_schema == {
        "type": "object",
        "properties": {
            "kind": {"enum": ["large", "small"], "description": "How large.", "type": "string"},
            "count": {
                "type": "integer",
                "minimum": 1,
                "maximum": 50,
                "description": "How many.",
                "default": 1,
            },
            "from": {"type": "string", "minLength": 2, "description": "Where from."},
            "tags": {"type": "array", "items": {"type": "string"}},
            "vault": {"type": "string", "description": "Vault id; default vault if absent."},
        },
        "required": ["kind"],
        "additionalProperties": False,
    }


def test_a_result_that_is_no_object_is_wrapped_and_said_to_be() -> None:
    assert box.tools["once"].output_schema == {
        "type": "object",
        "properties": {"result": {"type": "string"}},
        "required": ["result"],
    }


def test_a_result_that_holds_itself_has_a_schema_without_references() -> None:
    assert box.tools["grow"].output_schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["name"],
    }


def test_a_tool_without_a_docstring_is_refused_when_it_is_declared() -> None:
    with pytest.raises(PluginError, match="tool 'mute' of domain 'box' has no docstring; models read it"):

        @box.tool()
        def mute(ctx: Context) -> None: ...


def test_two_tools_of_one_name_in_a_domain_are_refused_when_they_are_declared() -> None:
    def again(ctx: Context) -> None:
        """Do it again."""

    double = Domain("double", summary="Twice the same.")
    double.tool()(again)
    with pytest.raises(PluginError, match="domain 'double' has two tools named 'again'"):
        double.tool()(again)


def test_the_decorator_returns_the_function_unchanged() -> None:
    assert leaf(None, Page(limit=1)).items == ["a"]  # type: ignore[arg-type]


@pytest.mark.parametrize("slug", ["", "Notes", "my-notes", "1st", "a" * 65])
def test_a_slug_that_is_no_identifier_is_refused(slug: str) -> None:
    with pytest.raises(PluginError, match="is not lower-case letters, digits and underscores"):
        Domain(slug, summary="No.")
