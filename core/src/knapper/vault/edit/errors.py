"""Why an edit was not made.

    EditError
    ├── StringNotFound     the old string is not there, or not as often as expected
    ├── AnchorNotFound     no heading, block or line of that name; the nearest that are there
    ├── AnchorAmbiguous    several headings of that name; their full paths
    └── ContentSpills      the content would change what follows the edited part

No message holds a note's text; headings and block ids are in `candidates`.
"""


class EditError(ValueError):
    """An edit that was not made; `candidates` are anchors that would work."""

    def __init__(self, message: str, candidates: list[str] | None = None) -> None:
        super().__init__(message)
        self.candidates = candidates or []


class StringNotFound(EditError):
    """The old string occurs `found` times, not `expected`."""

    def __init__(self, found: int, expected: int) -> None:
        super().__init__(
            f"old_string was found {found} times, expected {expected}"
            if found
            else "old_string was not found"
        )
        self.found = found
        self.expected = expected


class AnchorNotFound(EditError):
    """The note has no such heading, block or line."""


class AnchorAmbiguous(EditError):
    """The note has several such headings."""


class ContentSpills(EditError):
    """The content would swallow or change what follows, as an unclosed code fence does."""
