from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from knapper import ToolError
from knapper.caller import Caller
from knapper.testing import Calls, check_domain
from knapper_uri import uri


def made(call: Calls, action: str, vault_name: str | None = None, **params: Any) -> str:
    name = {} if vault_name is None else {"vault_name": vault_name}
    return str(call(uri, "generate_uri", action=action, params=params, **name)["uri"])


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(uri)


@pytest.mark.parametrize(
    ("action", "name", "params", "expected"),
    [
        ("open", "My Vault", {"file": "a/B c.md"}, "obsidian://open?vault=My%20Vault&file=a%2FB%20c.md"),
        ("open", None, {"path": "/x/ä.md"}, "obsidian://open?path=%2Fx%2F%C3%A4.md"),
        (
            "search",
            "V",
            {"query": "#tag & more=1"},
            "obsidian://search?vault=V&query=%23tag%20%26%20more%3D1",
        ),
        (
            "new",
            "V",
            {"file": "n", "content": "line\nnext", "append": True, "silent": False},
            "obsidian://new?vault=V&file=n&content=line%0Anext&append",
        ),
        ("daily", "V", {}, "obsidian://daily?vault=V"),
        ("command", "V", {"commandid": "app:reload"}, "obsidian://adv-uri?vault=V&commandid=app%3Areload"),
        ("hookmark", None, {}, "obsidian://hook-get-address"),
        (
            "advanced",
            "V",
            {"filepath": "a.md", "line": 3},
            "obsidian://adv-uri?vault=V&filepath=a.md&line=3",
        ),
    ],
)
def test_a_link_is_built_as_obsidian_reads_it(
    call: Calls, action: str, name: str | None, params: dict[str, Any], expected: str
) -> None:
    assert made(call, action, name, **params) == expected


@pytest.mark.parametrize("text", ["a&b=c", "x?y#z", "100% +", "日本 é", "'\"<>\\", "two\nlines"])
def test_any_text_comes_out_as_it_went_in(call: Calls, text: str) -> None:
    read = urlsplit(made(call, "open", text, file=text))
    assert dict(parse_qsl(read.query, strict_parsing=True)) == {"vault": text, "file": text}


@pytest.mark.parametrize(
    ("action", "params", "message"),
    [
        ("open", {}, "open needs file or path in params"),
        ("search", {"query": ""}, "search needs query in params"),
        ("new", {"content": "x"}, "new needs name or file or path in params"),
        ("command", {}, "command needs commandid or commandname in params"),
        ("search", {"query": "x", "file": "y"}, "search has no parameter 'file'; it takes query"),
        ("advanced", {"data": ["x"]}, "the parameter 'data' is not a text, a number or true"),
    ],
)
def test_a_link_that_would_do_nothing_is_refused(
    call: Calls, action: str, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolError) as error:
        made(call, action, **params)
    assert (error.value.code, error.value.message) == ("invalid_input", message)


def test_an_unknown_action_is_refused(call: Calls) -> None:
    with pytest.raises(ToolError) as error:
        made(call, "delete", file="x")
    assert error.value.code == "validation_error"


def test_nobody_needs_a_scope_for_it(call: Calls) -> None:
    call.caller = Caller(None)
    assert made(call, "daily") == "obsidian://daily"
