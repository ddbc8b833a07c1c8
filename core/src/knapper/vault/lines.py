"""Lines of a text by offset: where they begin and end, and how they are ended."""


def line_start(text: str, offset: int) -> int:
    """The offset of the first character of a line."""
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """The offset just past a line's last character, its line ending excluded."""
    newline = text.find("\n", offset)
    if newline < 0:
        return len(text)
    return newline - 1 if newline > offset and text[newline - 1] == "\r" else newline


def next_line(text: str, offset: int) -> int:
    """The offset of the line after the one that holds `offset`."""
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1


def line_ending(text: str) -> str:
    """The line ending a text uses: that of its first line."""
    newline = text.find("\n")
    return "\r\n" if newline > 0 and text[newline - 1] == "\r" else "\n"


def with_line_ending(text: str, eol: str) -> str:
    """A text with every line ended alike."""
    plain = text.replace("\r\n", "\n")
    return plain if eol == "\n" else plain.replace("\n", eol)
