"""The last look at an edit: headings and block ids outside the edited part are all still there."""

from knapper.vault.edit.errors import ContentSpills
from knapper.vault.markdown import Heading, Parsed, parse


def check_surroundings(text: str, parsed: Parsed, start: int, end: int, changed: str) -> None:
    """Refuse an edit of `start` to `end` after which a heading or block elsewhere would be gone."""
    after = parse(changed)
    above = [_named(heading) for heading in parsed.headings if heading.end <= start]
    below = [_named(heading) for heading in parsed.headings if heading.start >= end]
    left = [_named(heading) for heading in after.headings]
    if left[: len(above)] != above or left[len(left) - len(below) :] != below:
        raise ContentSpills("the content would change a heading outside the part it is for")
    edited = text[start:end]
    for key, block in parsed.blocks.items():
        outside = (block.end <= start or block.start >= end) and f"^{block.id}" not in edited
        if outside and key not in after.blocks:
            raise ContentSpills("the content would cost another block its id")


def _named(heading: Heading) -> tuple[int, str]:
    return heading.level, heading.text
