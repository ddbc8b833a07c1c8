"""The key, and what is in the notes, reach the companion and nothing else: no log at any level, no error, no repr."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from knapper import ToolError
from knapper.testing_http import Asked, Reply, loopback
from knapper_companion import plugin_bridge
from tests.companion.certificates import self_signed
from tests.companion.vaults import KEY, companion, failed, ok, settings

BRIDGE = plugin_bridge("dataview", "dataview", lambda remote: remote)
SAID = "text of a private note"


def answer(asked: Asked) -> Reply:
    """Answers that hold all that must not be kept."""
    if asked.method == "GET":
        return companion(asked)
    if asked.path.endswith("/fails"):
        return failed("invalid_input", f"Bearer {KEY} is wrong", header=f"Bearer {KEY}")
    if asked.path.endswith("/dies"):
        return Reply(hang_up=True)
    if asked.path.endswith("/odd"):
        return Reply(f"{KEY} {SAID}".encode(), status=500)
    return ok({"text": SAID})


def test_a_proxy_of_the_environment_never_gets_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with loopback(companion) as proxy, loopback(companion) as obsidian:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        BRIDGE.connect(settings(tmp_path, obsidian.url))
    assert (len(proxy.asked), len(obsidian.asked)) == (0, 1)


def test_a_redirect_takes_the_key_nowhere(tmp_path: Path) -> None:
    with loopback(companion) as elsewhere:
        away = Reply(b"", status=307, headers={"location": f"{elsewhere.url}/obsidian-tc/v1/probe"})
        with loopback(lambda _: away) as obsidian, pytest.raises(ToolError, match="the status 307"):
            BRIDGE.connect(settings(tmp_path, obsidian.url))
    assert elsewhere.asked == []


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_at_the_most_talkative_level_no_log_holds_the_key_or_a_notes_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, tls: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    certificate = self_signed(tmp_path / "certificate")
    errors: list[ToolError] = []
    with loopback(answer, certificate.server if tls else None) as obsidian:
        given = settings(tmp_path, obsidian.url, rest_api_certificate=certificate.digest)
        remote = BRIDGE.connect(given)
        assert remote.ask("/notes/read", text=SAID) == {"text": SAID}
        for route in ("/fails", "/odd", "/dies"):
            with pytest.raises(ToolError) as raised:
                remote.ask(route, text=SAID)
            errors.append(raised.value)
    assert all(asked.headers["authorization"] == f"Bearer {KEY}" for asked in obsidian.asked)
    assert {record.name.partition(".")[0] for record in caplog.records} >= {"httpcore", "httpx"}
    logged = "\n".join(f"{r.getMessage()} {r.__dict__}" for r in caplog.records)
    told = "\n".join(f"{e.code} {e.message} {e.details} {e!r}" for e in errors)
    for secret in (KEY, SAID):
        assert secret not in logged
        assert secret not in told
    assert KEY not in repr(given)
    assert KEY not in repr(remote)
