"""Search by pattern: right, narrowed, and stopped in time."""

import re
import subprocess
import sys
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper.errors import ToolError
from knapper.index.literals import required
from knapper.testing import Calls, VaultFolder
from knapper_search import search

HOSTILE = r"(a|aa)+$"


def found(call: Calls, pattern: str, **how: Any) -> list[tuple[str, int, int, str]]:
    items = call(search, "search_regex", pattern=pattern, **how)["items"]
    return [(i["path"], i["line"], i["col"], i["match"]) for i in items]


def test_matches_come_in_the_order_of_paths_and_places(call: Calls, vault: VaultFolder) -> None:
    vault["b.md"] = "x12\ny 3 z 45"
    vault["a.md"] = "# 7"
    assert found(call, r"\d+") == [
        ("a.md", 1, 3, "7"),
        ("b.md", 1, 2, "12"),
        ("b.md", 2, 3, "3"),
        ("b.md", 2, 7, "45"),
    ]


def test_flags_do_what_they_say(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "one\nTwo\nthree"
    assert found(call, "^two$", flags="im") == [("a.md", 2, 1, "Two")]
    assert found(call, "^two$", flags="i") == []
    assert found(call, "two", flags="") == []
    assert found(call, "one.two", flags="is") == [("a.md", 1, 1, "one\nTwo")]


def test_a_note_gives_at_most_so_many_matches(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "x " * 30
    vault["b.md"] = "x"
    assert len(found(call, "x")) == 11
    assert len(found(call, "x", max_matches_per_file=2)) == 3


def test_pages_together_are_all_matches_once(call: Calls, vault: VaultFolder) -> None:
    for n in range(5):
        vault[f"{n}.md"] = "a1 b2 c3 d4"
    everything = found(call, r"\w\d")
    seen: list[Any] = []
    cursor = None
    while True:
        page = call(search, "search_regex", pattern=r"\w\d", limit=3, cursor=cursor)
        seen += [(i["path"], i["line"], i["col"], i["match"]) for i in page["items"]]
        cursor = page.get("cursor")
        if cursor is None:
            break
    assert seen == everything
    assert len(seen) == 20


def test_a_pattern_that_never_ends_is_stopped_at_its_budget(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a" * 60 + "!"
    call.settings = {"governor": {"regex_timeout_ms": 200}}
    with pytest.raises(ToolError) as caught:
        call(search, "search_regex", pattern=HOSTILE)
    assert (caught.value.code, caught.value.details["budget_ms"]) == ("compute_budget_exceeded", 200)
    assert found(call, "a!") == [("a.md", 1, 60, "a!")]


def test_other_calls_answer_while_a_pattern_runs_on(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a" * 60 + "! stone"
    call.settings = {"governor": {"regex_timeout_ms": 5000}}
    call(search, "search_text", query="stone")
    hostile = threading.Thread(target=lambda: call.outcome(search, "search_regex", pattern=HOSTILE))
    hostile.start()
    assert [hit["path"] for hit in call(search, "search_text", query="stone")["items"]] == ["a.md"]
    assert found(call, "stone") == [("a.md", 1, 63, "stone")]
    assert hostile.is_alive()
    hostile.join()


def test_a_cancelled_call_stops_its_pattern(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a" * 60 + "!"
    call.settings = {"governor": {"regex_timeout_ms": 60_000}}
    outcome = call.outcome(search, "search_regex", pattern=HOSTILE, how={"cancelled": lambda: True})
    assert outcome.error is not None
    assert outcome.error["code"] == "aborted"


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "*", "(?<=a+)b\\"])
def test_a_pattern_that_cannot_be_read_is_refused(call: Calls, vault: VaultFolder, pattern: str) -> None:
    vault["a.md"] = "aab"
    with pytest.raises(ToolError) as caught:
        call(search, "search_regex", pattern=pattern)
    assert (caught.value.code, caught.value.details["field"]) == ("invalid_input", "pattern")


def test_a_flag_that_is_none_is_refused(call: Calls) -> None:
    with pytest.raises(ToolError, match="none of i, m, s and u"):
        call(search, "search_regex", pattern="a", flags="ix")


def test_what_other_engines_allow_is_understood(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "été 2024"
    assert found(call, r"(?<year>\d{4})") == [("a.md", 1, 5, "2024")]
    assert found(call, r"^\p{L}+") == [("a.md", 1, 1, "été")]


def test_a_pattern_sees_only_what_the_caller_may_read(call: Calls, vault: VaultFolder) -> None:
    vault["open/a.md"] = "stone"
    vault["secret/b.md"] = "stone"
    call.settings = {"acl": {"read_paths": ["open/**"]}}
    assert found(call, "stone") == [("open/a.md", 1, 1, "stone")]


@pytest.mark.parametrize(
    ("pattern", "clauses"),
    [
        ("stone", [["stone"]]),
        (r"stone\d+knife", [["stone"], ["knife"]]),
        ("(sto)(ne)", [["stone"]]),
        ("^stone$", [["stone"]]),
        ("stone|knife", [["stone", "knife"]]),
        ("a(stone|knife)b", [["a"], ["stone", "knife"], ["b"]]),
        ("stone?", [["ston"]]),
        ("(stone)*", []),
        ("(stone)+", [["stone"]]),
        ("(?=stone)", [["stone"]]),
        ("(?!stone)x", [["x"]]),
        ("stone|", []),
        ("[ab]c", [["c"]]),
        (".*", []),
        ("(?x) sto ne", []),
        (r"\p{L}", []),
        ("[[a]stone", []),
        ("[ab]--stone", [["--stone"]]),
    ],
)
def test_what_a_match_must_hold_is_read_off_the_pattern(pattern: str, clauses: list[list[str]]) -> None:
    assert required(pattern, 0) == clauses


def test_a_pattern_prints_no_warnings_into_the_log() -> None:
    """Python warns of brackets that another version may read otherwise; that is no matter of the server's log."""
    program = (
        "import sys; from knapper.index.literals import required\n"
        "for pattern in sys.argv[1:]: required(pattern, 0)"
    )
    patterns = [
        "[[a]stone",
        "[][a]stone",
        "[^][a]stone",
        "[a--b]stone",
        "[a&&b]stone",
        "[a||b]stone",
        "[a~~b]stone",
    ]
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", program, *patterns],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("text", ["İi\u0301", "re\u0301sume\u0301", "ıe\u0301"])
def test_a_pattern_finds_letters_under_combining_marks(call: Calls, vault: VaultFolder, text: str) -> None:
    vault["a.md"] = text
    letters = "ii" if text[0] == "İ" else text[:2]
    assert [path for path, *_ in found(call, letters)] == ["a.md"]


ATOMS = st.sampled_from(
    ["a", "ab", "i", "ß", "é", "日本", "-", "a b", r"\d", ".", "[ai]", "(?:a|ba)", "(?:ab)?", "e+", r"\b"]
)
TEXT = st.text(st.sampled_from("abeiAB ßé\u0301-1日本İı\n"), min_size=0, max_size=25)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(atoms=st.lists(ATOMS, min_size=1, max_size=3), texts=st.lists(TEXT, min_size=3, max_size=5))
def test_narrowing_never_loses_a_match(
    call: Calls, vault: VaultFolder, atoms: list[str], texts: list[str]
) -> None:
    pattern = "".join(atoms)
    for path in list(vault):
        del vault[path]
    for n, text in enumerate(texts):
        vault[f"{n}.md"] = text
    wanted = [f"{n}.md" for n, text in enumerate(texts) if re.search(pattern, text, re.IGNORECASE)]
    got = call(search, "search_regex", pattern=pattern, max_matches_per_file=1)["items"]
    assert [hit["path"] for hit in got] == wanted
