"""What is raised where frontmatter cannot be read or changed."""


class FrontmatterError(ValueError):
    """Frontmatter that cannot be read or edited: `reason` never quotes a value, `line` is 1-based."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"{reason} (line {line})")
        self.reason = reason
        self.line = line
