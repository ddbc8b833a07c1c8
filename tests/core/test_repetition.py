import pytest

from knapper.repetition import repeats_too_much


@pytest.mark.parametrize(
    "pattern",
    [
        "x{1000000000}",
        "x{10001,}",
        "(x{200}){200}",
        "(?:(?:(?:a{30}){30}){30}){30}",
        "([ab]{101}|c){101}",
        r"\d{99999}",
        "x" * 10_001,
        "x{" + "9" * 400 + "}",
        "(?<name>a{500}){500}",
    ],
)
def test_a_pattern_that_would_be_written_out_too_long_is_told(pattern: str) -> None:
    assert repeats_too_much(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "x{10000}",
        "x{0,1000000000}",
        "(a+)+$",
        "a{50}b{50}c{50}",
        r"\{99999}",
        "[{99999}]",
        "x{,99999}",
        ")(",
    ],
)
def test_any_other_pattern_passes(pattern: str) -> None:
    assert not repeats_too_much(pattern)
