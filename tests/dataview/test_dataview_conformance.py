import pytest

from tests.dataview.conformance import ANSWERS, RECORDED, differences, report

pytestmark = pytest.mark.skipif(not RECORDED.is_dir(), reason="the recordings are not at hand")

# Each recorded answer that differs from ours, and why.
DIFFERENT: dict[str, str] = {}


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_answers_as_the_recorded_plugin_but_for_listed_differences(name: str) -> None:
    _, found = differences(name)
    assert [difference for difference in found if difference.id not in DIFFERENT] == []


def test_the_report_counts_exact_answers_of_every_file() -> None:
    counted = {name: (exact, total) for name, exact, total in report()}
    assert counted.keys() == ANSWERS.keys()
    assert all(0 < exact <= total for exact, total in counted.values())
    assert all(exact / total >= 0.97 for exact, total in counted.values())
