import pytest

from tests.tasks.scoring import ANSWERS, DIFFERENT, FOLDER, differences

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the recordings are not at hand")

# What is answered instead, where the answer differs.
CHOSEN = {"tasks-toggle-0190": ["- [x] a 🔁 every day 📅 2024-02-30 ✅ 2024-03-15"]}


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_answers_as_the_recorded_plugin_but_for_listed_differences(name: str) -> None:
    wrong, total = differences(name)

    assert wrong.keys() <= DIFFERENT.keys()
    assert wrong == {case: CHOSEN[case] for case in wrong}
    assert len(wrong) <= 0.03 * total
