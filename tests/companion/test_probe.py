from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knapper.testing_http import Asked, Reply, loopback
from knapper_companion.link import Link
from knapper_companion.snapshot import MISSHAPEN, Plugin, Snapshot
from tests.companion.vaults import KEY, PROBE, companion, failed, ok, settings, without_companion


def probed(folder: Path, url: str | None, **given: Any) -> Snapshot:
    found = settings(folder, url, **given)
    return Link(found).refresh(found)


def test_a_probe_is_one_get_with_the_key_and_finds_what_runs_there(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        found = probed(tmp_path, obsidian.url)
    assert [(asked.method, asked.path) for asked in obsidian.asked] == [("GET", "/obsidian-tc/v1/probe")]
    assert obsidian.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert found == Snapshot(
        companion="reachable",
        plugins={
            "dataview": Plugin(True, "0.5.68"),
            "tasks": Plugin(False),
            "text-extractor": Plugin(True, "0.6.1"),
        },
        plugin_version="1.7.0",
        obsidian_version="1.8.9",
        api_version="1",
    )
    assert not found.incompatible
    assert not found.outdated


def test_an_address_that_ends_with_a_slash_is_the_same_address(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        assert probed(tmp_path, obsidian.url + "/").companion == "reachable"


def test_a_companion_that_says_no_version_is_taken_as_it_is(tmp_path: Path) -> None:
    with loopback(lambda _: ok({"capabilities": {}})) as obsidian:
        found = probed(tmp_path, obsidian.url)
    assert (found.companion, found.api_version, found.incompatible) == ("reachable", None, False)


def test_a_companion_of_another_version_of_the_contract_is_incompatible(tmp_path: Path) -> None:
    with loopback(lambda _: ok({**PROBE, "obsidianTcApiVersion": "2"})) as obsidian:
        found = probed(tmp_path, obsidian.url)
    assert (found.companion, found.api_version, found.incompatible) == ("reachable", "2", True)


@pytest.mark.parametrize(
    ("said", "outdated"),
    [
        ({"plugin_version": "1.6.9"}, True),
        ({"plugin_version": "1.10.0"}, False),
        ({"plugin_version": None}, False),
        ({"plugin_version": "0.1.0", "plugin_id": "knapper-companion"}, False),
        ({"plugin_version": "0.0.9", "plugin_id": "knapper-companion"}, True),
    ],
)
def test_each_line_of_companions_counts_its_own_versions(
    tmp_path: Path, said: dict[str, Any], outdated: bool
) -> None:
    with loopback(lambda _: ok({**PROBE, **said})) as obsidian:
        assert probed(tmp_path, obsidian.url).outdated is outdated


def test_a_shape_that_is_not_well_is_a_warning_even_where_none_is_said(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        obsidian.next = [
            ok({**PROBE, "shape_ok": False}),
            ok({**PROBE, "shape_ok": False, "shape_warnings": ["no commands"]}),
        ]
        assert probed(tmp_path, obsidian.url).shape_warnings == [MISSHAPEN]
        assert probed(tmp_path, obsidian.url).shape_warnings == ["no commands"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"errorCode": 40400, "message": "Not Found"}, status=404),
        failed("plugin_missing", "no companion"),
    ],
)
def test_where_the_local_rest_api_knows_no_companion_it_is_missing_and_not_asked_twice(
    tmp_path: Path, reply: Reply
) -> None:
    with loopback(lambda _: reply) as obsidian:
        assert probed(tmp_path, obsidian.url).companion == "missing"
    assert len(obsidian.asked) == 1


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(b"<html>", status=500), "Obsidian answered for 'companion' with the status 500"),
        (
            Reply({"errorCode": 40101}, status=401),
            "The Local REST API refuses the key: copy it from the plugin's settings to rest_api_key.",
        ),
        (Reply(b"hello"), "Obsidian answered for 'companion' with something else than an envelope"),
        (ok({"capabilities": ["dataview"]}), "the probe's answer has another shape"),
        (ok("fine"), "the probe's answer has another shape"),
        (failed("bridge_error", "it broke"), "it broke"),
        (Reply(hang_up=True), "the connection failed (RemoteProtocolError)"),
        (
            Reply(b"", status=302, headers={"location": "/elsewhere"}),
            "Obsidian answered for 'companion' with the status 302",
        ),
    ],
    ids=["500", "401", "no-json", "list", "text", "failure", "hang-up", "redirect"],
)
def test_any_other_answer_is_unreachable_after_a_second_try(
    tmp_path: Path, reply: Reply, problem: str
) -> None:
    with loopback(lambda _: reply) as obsidian:
        found = probed(tmp_path, obsidian.url)
    answered = not reply.hang_up
    assert found == Snapshot(companion="unreachable", problem=problem, answered=answered)
    assert [asked.path for asked in obsidian.asked] == ["/obsidian-tc/v1/probe"] * 2


def test_the_second_try_counts(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        obsidian.next = [Reply(b"", status=503)]
        assert probed(tmp_path, obsidian.url).companion == "reachable"


def test_nobody_listening_is_unreachable(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        url = obsidian.url
    found = probed(tmp_path, url)
    assert found == Snapshot(companion="unreachable", problem="nothing listens at rest_api_url")


def test_an_answer_that_does_not_come_is_unreachable(tmp_path: Path) -> None:
    import threading

    held = threading.Event()
    with loopback(lambda _: Reply(hold=held)) as obsidian:
        found = probed(tmp_path, obsidian.url, bridges={"probe_timeout_ms": 50})
        held.set()
    assert found == Snapshot(companion="unreachable", problem="it did not answer within 50 ms")


def test_without_an_address_the_companion_is_missing(tmp_path: Path) -> None:
    found = probed(tmp_path, None, plugins={"probe_skip": True})
    assert found == Snapshot(companion="missing", problem="the vault has no rest_api_url")


def test_a_probe_that_is_skipped_asks_nobody_and_takes_the_companion_to_be_there(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        found = probed(tmp_path, obsidian.url, plugins={"probe_skip": True})
    assert found == Snapshot(companion="reachable")
    assert obsidian.asked == []


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("127.0.0.1:27124", "rest_api_url has to begin with http:// or https:// and name a host"),
        ("ftp://127.0.0.1", "rest_api_url has to begin with http:// or https:// and name a host"),
        ("http://", "rest_api_url has to begin with http:// or https:// and name a host"),
        ("http://[::1", "rest_api_url is no address"),
        ("http://ann:secret@127.0.0.1", "rest_api_url must not hold a password; use rest_api_key"),
        (
            "http://192.0.2.1:27123",
            "rest_api_url would send the key in the clear to another machine; use https",
        ),
    ],
)
def test_an_address_that_cannot_be_used_is_told_and_nothing_is_sent(
    tmp_path: Path, url: str, problem: str
) -> None:
    assert probed(tmp_path, url) == Snapshot(companion="unreachable", problem=problem)


def test_what_is_forced_corrects_what_was_found_and_off_wins_over_on(tmp_path: Path) -> None:
    plugins = {"force_enabled": ["tasks", "quickadd"], "force_disabled": ["quickadd", "dataview"]}
    with loopback(companion) as obsidian:
        found = settings(tmp_path, obsidian.url, plugins=plugins)
        assert Link(found).refresh(found).corrected(found) == {
            "dataview": Plugin(False),
            "tasks": Plugin(True),
            "text-extractor": Plugin(True, "0.6.1"),
            "quickadd": Plugin(False),
        }


def test_the_first_who_wants_to_know_probes_and_the_others_take_what_is_known(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        found = settings(tmp_path, obsidian.url)
        link = Link(found)
        first = link.snapshot(found)
        assert link.snapshot(found) is first
        assert link.known is first
    assert len(obsidian.asked) == 1


def test_what_is_known_is_renewed_only_when_it_is_old(tmp_path: Path) -> None:
    now = [100.0]
    with loopback(without_companion) as obsidian:
        found = settings(tmp_path, obsidian.url)
        link = Link(found, clock=lambda: now[0])
        assert link.snapshot(found).companion == "missing"
        obsidian.answer = companion
        now[0] += 10.0
        assert link.renewed(found).companion == "missing"
        now[0] += 0.1
        assert link.renewed(found).companion == "reachable"


def test_many_who_ask_at_once_share_one_probe(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def answer(asked: Asked) -> Reply:
        return companion(asked)

    with loopback(answer) as obsidian, ThreadPoolExecutor(8) as pool:
        found = settings(tmp_path, obsidian.url)
        link = Link(found)
        seen = {id(one) for one in pool.map(lambda _: link.snapshot(found), range(32))}
    assert len(obsidian.asked) == len(seen) == 1
