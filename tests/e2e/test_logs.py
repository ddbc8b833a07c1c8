"""A whole run at the lowest level, every tool called: no line of the log holds a note's text, a query, a key or a path."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from knapper.domain import Tool
from tests.contract.surface import FILES, SECRET, arguments, tools, usual_paths
from tests.load.clients import OverHttp, OverPipes, Refused, Session
from tests.security.wire import Site, end
from tests.server.conftest import install

QUERY, KEY, STORE_KEY = "QUERY5b1words", "KEY93dd-of-thirty-two-characters!", "KEY7734-of-the-store"
PATH = re.compile(r"(?<![\w:/.])/(?:[\w.+-]+/)+[\w.+-]+")
TROUBLED = '''
"""A plugin that fails in every way that is logged, each time with a note's text in its hands."""

from knapper import Context, Domain, Sink, hookimpl

troubled = Domain("troubled", summary="Fail.")


@troubled.tool("read:notes")
def fail_with_text(ctx: Context, text: str) -> str:
    """Fail with what a note says, from a folder that is nobody's business."""
    note = ctx.vault.read("Private/secret.md").text
    raise RuntimeError(f"cannot digest {note} at {ctx.server.settings.vaults[0].path}")


@troubled.tool("read:notes")
def exit_with_text(ctx: Context, text: str) -> str:
    """Try to leave, with what was asked on the lips."""
    raise SystemExit(text)


@troubled.job(every_seconds=3600)
def tidy(runtime) -> None:
    raise OSError(2, "no such file", str(runtime.folder / "gone.txt"))


class Observer:
    def call(self, record):
        raise ValueError(repr(record))

    def event(self, event):
        raise ValueError(repr(event))

    def close(self):
        raise ValueError("not now")


@hookimpl
def knapper_domains():
    return troubled


@hookimpl
def knapper_sinks():
    return Sink("troubled", lambda server: Observer())
'''


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Every installed plugin and a troubled one, over a vault with secrets in it."""
    found = Site(
        tmp_path,
        plugins={},
        index={"vectors": False, "processes": 1},
        observability={"log_level": "debug"},
        auth={"api_key": KEY},
        plur={"endpoint": "http://127.0.0.1:9", "api_key": STORE_KEY},
    )
    for path, text in FILES.items():
        place = found.root / "home" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    source = tmp_path / "source" / "knapper_troubled.py"
    source.parent.mkdir()
    source.write_text(TROUBLED)
    found.env["PYTHONPATH"] = str(install(tmp_path / "site", source=source))
    return found


def given(tool: Tool) -> Iterator[dict[str, Any]]:
    yield arguments(tool, usual_paths(tool), text=QUERY, whole=True)
    yield arguments(tool, lambda access: "Private/secret.md", text=QUERY)
    yield {"path": f"../../{QUERY}", "query": {QUERY: QUERY}}


def run_everything(session: Session) -> int:
    """Call every tool in three ways, and two that fail inside; how many calls there were."""
    each = [(name, one) for name, tool in tools().items() if name[:3] != "fx_" for one in given(tool)]
    each += [("fail_with_text", {"text": QUERY}), ("exit_with_text", {"text": QUERY}), (QUERY, {})]
    for name, one in each:
        try:
            session.call(name, **one)
        except Refused:
            continue
    return len(each)


def check(site: Site, text: str, calls: int) -> None:
    for word in (SECRET, QUERY, KEY, "KEY93dd", STORE_KEY, str(site.root), sys.prefix, sys.base_prefix):
        assert word not in text, [line for line in text.splitlines() if word in line][:5]
    assert [line for line in text.splitlines() if PATH.search(line)] == []
    assert calls > 300


def test_a_run_over_pipes_in_words(site: Site) -> None:
    pipe = site.pipe()
    try:
        calls = run_everything(OverPipes(pipe))
        assert pipe.leave() == 0
    finally:
        end(pipe)
    text = pipe.stderr()
    check(site, text, calls)
    assert len(re.findall(r" DEBUG knapper\.dispatch: \w+ (?:ok|denied|error)", text)) >= calls
    assert " ERROR knapper.dispatch: fail_with_text failed inside (RuntimeError at knapper.dispatch." in text
    assert "sink troubled failed; further failures are only counted (ValueError at " in text
    assert "job troubled.tidy failed (" in text


def test_a_run_over_http_in_json(site: Site) -> None:
    web = site.web("--set", "auth.mode=apikey", "--set", "observability.log_format=json")
    try:
        assert web.request(body={}, Authorization=f"Bearer {KEY}-not-quite")[0] == 401
        calls = run_everything(OverHttp(web, Authorization=f"Bearer {KEY}"))
        web.stop()
    finally:
        end(web)
    lines = [line for line in web.errors if "listening on" not in line]
    check(site, "".join(lines), calls)
    told = [json.loads(line) for line in lines]
    assert len([line for line in told if line["logger"] == "knapper.dispatch" and "tool" in line]) >= calls
    (failed,) = [line for line in told if line["message"] == "fail_with_text failed inside"]
    assert (failed["level"], failed["exception"]["type"]) == ("error", "RuntimeError")
    assert failed["exception"]["at"][-1].startswith("knapper_troubled:")
    assert any(line["message"].startswith("bearer refused: ") for line in told)
