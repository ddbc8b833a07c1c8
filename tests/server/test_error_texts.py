"""What a model reads of an error: each issue once, what else there is to know, and what to do."""

from __future__ import annotations

from knapper.errors import ToolError
from knapper.server.results import error_text


def test_an_issue_that_the_message_tells_is_not_told_again() -> None:
    issues = [{"field": f"f{n}", "message": "is required"} for n in range(7)]
    message = "; ".join(f"f{n}: is required" for n in range(5))
    assert error_text(ToolError("validation_error", message, issues=issues).envelope()).split("\n") == [
        f"Error [validation_error]: {message}",
        "- f5: is required",
        "- f6: is required",
        "Correct the fields named in details.issues.",
    ]


def test_more_than_five_are_counted() -> None:
    found = [f"{n}.md" for n in range(7)]
    assert error_text(ToolError("path_ambiguous", "several", candidates=found).envelope()).split("\n") == [
        "Error [path_ambiguous]: several",
        *(f"- {n}.md" for n in range(5)),
        "…and 2 more",
        "Use one of details.candidates.",
    ]


def test_the_nearest_names_and_the_way_to_find_others_are_told() -> None:
    error = ToolError("not_found", "unknown tool: raed_note", suggestions=["read_note"]).envelope()
    assert error_text(error) == (
        "Error [not_found]: unknown tool: raed_note\n- read_note\nLook the name up with find_capability."
    )
