import inspect

import pytest

from benchmarks.conformance import PAGE, RECORDED, Score, region, scores, written
from devtools.docs.pages import registered
from devtools.members import ROOT


@pytest.fixture(scope="module")
def measured() -> list[Score]:
    if not RECORDED.is_dir():
        pytest.skip("the recordings are not at hand")
    return scores()


def test_the_page_quotes_what_is_measured_now(measured: list[Score]) -> None:
    page = PAGE.read_text("utf-8")
    assert region(measured) in page, "run: python benchmarks/conformance.py --write"
    assert written(page, measured) == page


def test_every_file_of_recordings_is_measured(measured: list[Score]) -> None:
    assert sorted(score.file for score in measured) == sorted(file.stem for file in RECORDED.glob("*.json"))


def test_every_difference_is_explained_and_there_are_few(measured: list[Score]) -> None:
    for score in measured:
        assert "NOT EXPLAINED" not in score.different.values(), score
        assert score.exact / score.total >= 0.97, score


def test_the_page_names_every_tool_with_an_engine_of_these_domains() -> None:
    page = PAGE.read_text("utf-8")
    for tool in registered(ROOT).tools.values():
        if tool.domain.slug in ("bases", "dataview", "tasks"):
            assert f"`{tool.name}`" in page
            if "engine" in inspect.signature(tool.fn).parameters:
                assert f"| {tool.domain.slug} | `{tool.domain.slug}` |" in page
