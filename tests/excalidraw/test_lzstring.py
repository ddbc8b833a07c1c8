import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knapper_excalidraw.lzstring import compress, decompress
from knapper_excalidraw.note import packed

RECORDED = Path(__file__).parents[2] / "../shared/conformance/lzstring.json"


def test_what_the_original_makes_of_a_text_is_made_of_it_here_too() -> None:
    if not RECORDED.is_file():
        pytest.skip("the recorded cases are not at hand")
    for case in json.loads(RECORDED.read_text(encoding="utf-8"))["cases"]:
        assert compress(case["input"]) == case["expected"], case["id"]
        assert decompress(case["expected"]) == case["input"], case["id"]
        assert packed(case["input"]) == case["excalidrawBlock"], case["id"]


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("", "Q==="),
        ('{"type":"excalidraw"}', "N4IgLgngDgpiBcIYA8DGBDANgSwCYCd0B3EAXyA="),
        ("line1\nline2\n\ttabbed", "DYSwdgpgjAUKkCYYEgAuBDARpiATIA=="),
    ],
)
def test_a_text_has_the_letters_that_other_programs_read(text: str, letters: str) -> None:
    assert compress(text) == letters
    assert decompress(letters) == text


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])) | st.text('ab{}",€😀', max_size=400))
def test_every_text_comes_back(text: str) -> None:
    assert decompress(compress(text)) == text


@pytest.mark.parametrize("letters", ["N4Ig!", "N4IgLgngDgpiBcI", "////", ""])
def test_what_was_cut_or_spoiled_is_refused(letters: str) -> None:
    with pytest.raises(ValueError):
        decompress(letters)
