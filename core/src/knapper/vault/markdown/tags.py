"""What a tag is made of, in the body and in the frontmatter."""

import re
from typing import Any

# Everything but white space, ASCII punctuation other than - _ /, and two Unicode blocks of punctuation.
_NAME = r"[^\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]+"

TAG = re.compile(f"#({_NAME})")
_TAG_NAME = re.compile(f"#?({_NAME})")


def is_tag_name(name: str) -> bool:
    """Whether a run of tag characters is a tag: digits alone are not."""
    return bool(name) and not (name.isdigit() and name.isascii())


def frontmatter_tags(frontmatter: dict[str, Any] | None) -> list[str]:
    """The tags of the `tags` property: a list, or a string that is one tag."""
    values = _property(frontmatter, "tags") if frontmatter else None
    if isinstance(values, str):
        values = [values]
    if not isinstance(values, list):
        return []
    return [tag for value in values if isinstance(value, str) and (tag := _tag(value))]


def _tag(value: str) -> str | None:
    match = _TAG_NAME.fullmatch(value.strip())
    return f"#{match[1]}" if match and is_tag_name(match[1]) else None


def _property(frontmatter: dict[str, Any], name: str) -> Any:
    if name in frontmatter:
        return frontmatter[name]
    return next((value for key, value in frontmatter.items() if str(key).lower() == name), None)
