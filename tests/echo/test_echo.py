import numpy as np
import pytest

import knapper_echo
from knapper import Rejected, ToolError
from knapper.config.model import EmbeddingSettings
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_echo import echo, heard, knapper_embedders, knapper_verifiers


def test_a_text_is_repeated(call: Calls) -> None:
    assert call(echo, "say", text="hello") == "hello"


def test_a_text_is_repeated_as_often_as_the_configuration_says(call: Calls) -> None:
    call.settings = {"echo": {"times": 3}}
    assert call(echo, "say", text="hello") == "hello hello hello"


def test_a_text_that_is_too_long_is_refused_with_its_field(call: Calls) -> None:
    with pytest.raises(ToolError) as raised:
        call(echo, "say", text="a" * 201)
    assert raised.value.code == "validation_error"
    assert [issue["field"] for issue in raised.value.details["issues"]] == ["text"]


def test_the_first_line_of_a_note_is_repeated(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "one\ntwo"
    assert call(echo, "first_line", path="a.md") == {"path": "a.md", "text": "one"}


def test_a_note_is_written_at_once_and_replaced_only_with_a_persons_word(
    call: Calls, vault: VaultFolder
) -> None:
    call(echo, "write_down", path="a.md", text="first")
    with pytest.raises(ToolError) as raised:
        call(echo, "write_down", path="a.md", text="second")
    assert raised.value.code == "elicit_required"
    assert vault["a.md"] == "first"
    call.confirmed(echo, "write_down", path="a.md", text="second")
    assert vault["a.md"] == "second"


def test_the_sink_hears_every_call_where_it_is_switched_on(call: Calls, vault: VaultFolder) -> None:
    heard.clear()
    call.settings = {"echo": {"listen": True}}
    call.plugins = [SinkOnly()]
    call(echo, "say", text="hello")
    with pytest.raises(ToolError, match=r"a\.md"):
        call(echo, "first_line", path="a.md")
    call.close()
    assert list(heard) == ["say ok", "first_line error", "closed"]


def test_the_sink_is_not_built_where_it_is_switched_off(call: Calls) -> None:
    heard.clear()
    call.plugins = [SinkOnly()]
    call(echo, "say", text="hello")
    call.close()
    assert list(heard) == []


def test_the_verifier_believes_a_bearer_that_says_who_it_is_and_no_other(call: Calls) -> None:
    verify = knapper_verifiers().build(call.runtime(echo).settings)
    assert verify("echo-ann").name == "ann"
    with pytest.raises(Rejected, match="malformed"):
        verify("ann")


def test_the_embedder_puts_like_texts_near_each_other() -> None:
    model = knapper_embedders().build(EmbeddingSettings())
    stone, stones, ink = model.embed(["stone", "stones", "ink"], query=False)
    assert np.isclose(stone @ stone, 1.0)
    assert stone @ stones > stone @ ink


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(echo)


class SinkOnly:
    """The plugin without its domain, which `call` has loaded already."""

    knapper_sinks = staticmethod(knapper_echo.knapper_sinks)
