"""How blocks begin: the expressions that block parsing shares."""

import re
from typing import TypeAlias

Pattern: TypeAlias = re.Pattern[str]

_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|meta|nav|noframes|ol|optgroup|option|p|param|pre|section|source|summary|table|tbody|td|tfoot|th|thead|"
    "title|tr|track|ul"
)
_ATTRIBUTE = r"""(?:\s+[a-zA-Z_:][a-zA-Z0-9:._-]*(?:\s*=\s*(?:[^"'=<>`\x00-\x20]+|'[^']*'|"[^"]*"))?)"""
_OPEN_OR_CLOSE = rf"<[A-Za-z][A-Za-z0-9-]*{_ATTRIBUTE}*\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>"

_RULE = r"(?:\*[ ]*){3,}$|(?:-[ ]*){3,}$|(?:_[ ]*){3,}$"
_HEADING = r"#{1,6}(?:[ \t]|$)"
_FENCE = r"`{3,}[^`]*$|~{3,}"
_HTML = rf"<(?:(?:script|pre|style)(?=[\s>]|$)|!--|\?|![A-Za-z]|!\[CDATA\[|/?(?:{_NAMES})(?=\s|/?>|$))"
_FOOTNOTE = r"\[\^[^\s\[\]]+\]:"

# Lines are matched after their leading white space.
RULE = re.compile(_RULE)
HEADING = re.compile(r"(#{1,6})(?:[ \t]+|$)")
FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
HTML_BLOCK = re.compile(_HTML, re.IGNORECASE)
HTML_LINE = re.compile(rf"(?:{_OPEN_OR_CLOSE})\s*$")
HTML_INLINE = re.compile(rf"{_OPEN_OR_CLOSE}|<[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*>|<[^\s<>@]+@[^\s<>]+>")
FOOTNOTE = re.compile(r"\[\^([^\s\[\]]+)\]:[ \t]*")
DEFINITION = re.compile(
    r"""\[(?!\^)(?:\\.|[^\]\\])+\]:[ \t]*(?:<[^<>\[\]]*>|[^\s\[\]<][^\s\[\]]*)"""
    r"""(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^)]*\)))?[ \t]*$"""
)
CALLOUT = re.compile(r"\[![^\]\n]+\]")
BLOCK_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)[ \t]*$")

# What ends a paragraph, a lazy list line, a lazy quote line. A numbered list only does so when it starts with 1.
_BULLET = r"(?:[*+-]|1[.)])(?:[ \t]|$)"
ENDS_LIST = re.compile(f"{_HEADING}|{_FENCE}|{_RULE}")
ENDS_PARAGRAPH = re.compile(f"{_HEADING}|>|{_FENCE}|{_RULE}|{_BULLET}|{_HTML}|{_FOOTNOTE}", re.IGNORECASE)
ENDS_QUOTE = re.compile(f"{_HEADING}|{_FENCE}|{_RULE}|{_BULLET}|{_HTML}|{_FOOTNOTE}", re.IGNORECASE)
MAY_END = frozenset("#>`~*-_+1<[$%")

HTML_ENDS = (
    (
        re.compile(r"<(?:script|pre|style)(?=[\s>]|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile("-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
)


def setext_level(underline: str) -> int:
    """The level of the heading a line underlines, 0 where it does not."""
    if underline[:1] == "=" and not underline.strip("="):
        return 1
    if underline[:1] == "-" and not underline.strip("-"):
        return 2
    return 0


def without_closing_hashes(heading: str) -> str:
    """A heading's text without trailing white space, and without the hashes that close it."""
    text = heading.rstrip(" \t")
    if text[-1:] != "#":
        return text
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else text


def closes_fence(line: str, fence: str) -> bool:
    """Whether a line closes code that `fence` opened."""
    body = line.lstrip(" ")
    return len(line) - len(body) < 4 and body.startswith(fence) and not body.rstrip(" \t").strip(fence[0])
