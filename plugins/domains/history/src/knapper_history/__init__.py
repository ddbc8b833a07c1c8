"""History: the history domain."""

from knapper import Context, Domain, ReadPath, Record, hookimpl

history = Domain("history", summary="The history domain.")


class Length(Record):
    """How long a note is."""

    path: str
    words: int


@history.tool("read:notes")
def measure_history(ctx: Context, path: ReadPath) -> Length:
    """Count the words of a note."""
    return Length(path=path, words=len(ctx.vault.read(path).text.split()))


@hookimpl
def knapper_domains() -> Domain:
    """Hand the domain over."""
    return history
