"""Prompts, and the completion of what a person types into them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.server.conftest import Pipe, Place

Start = Callable[..., Pipe]


def test_the_servers_own_prompts_and_those_of_domains_are_listed(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    prompts = {p["name"]: p for p in one.ask(1, "prompts/list")["result"]["prompts"]}
    assert list(prompts) == [
        "summarize_note",
        "find_connections",
        "recent_changes_digest",
        "decompose_and_research",
        "discuss",
    ]
    assert prompts["summarize_note"]["arguments"] == [
        {"name": "path", "description": "The note's path, relative to the vault.", "required": True}
    ]
    assert prompts["discuss"]["description"] == "Discuss a topic."


def test_a_prompt_is_filled_with_its_arguments(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    got = one.ask(1, "prompts/get", name="discuss", arguments={"topic": "tea"})["result"]
    assert got == {
        "description": "Discuss a topic.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Let us discuss tea."}}],
    }
    text = one.ask(2, "prompts/get", name="recent_changes_digest")["result"]["messages"][0]["content"]["text"]
    assert "20 notes" in text


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("nonsense", {}, "unknown prompt: nonsense"),
        ("discuss", {}, "topic: is required"),
        ("discuss", {"topic": "x", "tone": "y"}, "tone: is not an argument"),
        ("discuss", {"topic": 5}, "arguments"),
        ("recent_changes_digest", {"limit": "many"}, "limit must be a number"),
        ("recent_changes_digest", {"limit": "1" * 5000}, "limit must be a number"),
        ("decompose_and_research", {"question": "q", "max_variants": "9"}, "max_variants must be"),
    ],
)
def test_a_prompt_that_cannot_be_filled_is_refused(
    pipe: Start, name: str, arguments: dict[str, object], says: str
) -> None:
    one = pipe()
    one.initialize()
    refused = one.ask(1, "prompts/get", name=name, arguments=arguments)["error"]
    assert refused["code"] == -32602
    assert says in refused["message"]


def test_paths_and_tags_are_completed_best_first(pipe: Start, place: Place) -> None:
    (place.vault / "trips").mkdir()
    (place.vault / "trips" / "Alps.md").write_text("#alpine #food\n")
    (place.vault / "salpeter.md").write_text("x\n")
    one = pipe()
    one.initialize()
    prompt = {"type": "ref/prompt", "name": "summarize_note"}

    def completed(name: str, value: str) -> dict[str, object]:
        argument = {"name": name, "value": value}
        found: dict[str, object] = one.ask(1, "completion/complete", ref=prompt, argument=argument)["result"]
        return found["completion"]  # type: ignore[return-value]

    while completed("path", "AL")["total"] != 2 or completed("tag", "")["total"] != 2:
        pass
    assert completed("path", "AL") == {
        "values": ["trips/Alps.md", "salpeter.md"],
        "total": 2,
        "hasMore": False,
    }
    assert completed("tag", "alp")["values"] == ["alpine"]
    assert completed("vault", "m")["values"] == ["main"]
    assert completed("mood", "m") == {"values": [], "total": 0, "hasMore": False}
    wrong = one.ask(2, "completion/complete", ref={"type": "x"}, argument={"name": "a", "value": ""})
    assert wrong["error"]["code"] == -32602


def test_nothing_is_completed_from_notes_that_may_not_be_read(pipe: Start, place: Place) -> None:
    (place.vault / "secret").mkdir()
    (place.vault / "secret" / "key.md").write_text("#hidden\n")
    (place.vault / "open.md").write_text("#shown\n")
    one = pipe("--set", 'acl.read_paths=["*.md"]')
    one.initialize()

    def completed(ref: dict[str, str], name: str) -> list[str]:
        argument = {"name": name, "value": ""}
        found: list[str] = one.ask(1, "completion/complete", ref=ref, argument=argument)["result"][
            "completion"
        ]["values"]
        return found

    template = {"type": "ref/resource", "uri": "knapper://{vault}/{path}"}
    while len(completed(template, "path")) < 2:
        pass
    assert completed(template, "path") == ["a.md", "open.md"]
    while not (tags := completed({"type": "ref/prompt", "name": "summarize_note"}, "tag")):
        pass  # files are known by name before they are read
    assert tags == ["shown"]
    assert completed(template, "folder") == []
