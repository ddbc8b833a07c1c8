"""Tables: how far one reaches, and what its cells are."""

from collections.abc import Iterator


def table_end(lines: list[str], first: int, last: int) -> int:
    """The line after the table that begins at `first`, 0 where none does."""
    if first + 1 >= last or not _is_row(lines[first]) or not _is_delimiter(lines[first + 1]):
        return 0
    end = first + 2
    while end < last and _is_row(lines[end]):
        end += 1
    return end


def _is_row(line: str) -> bool:
    return line.find("|", 1) > 0


def _is_delimiter(line: str) -> bool:
    if not _is_row(line) or line.strip(" \t|:-"):
        return False
    row = line.strip()
    cells = row[row.startswith("|") : len(row) - row.endswith("|")].split("|")
    return all(cell.strip() for cell in cells)


def cells(line: str) -> Iterator[tuple[int, int]]:
    """Where the cells of a row begin and end; an escaped bar does not part them."""
    begin = at = 0
    while (at := line.find("|", at)) >= 0:
        if not at or line[at - 1] != "\\":
            yield begin, at
            begin = at + 1
        at += 1
    yield begin, len(line)
