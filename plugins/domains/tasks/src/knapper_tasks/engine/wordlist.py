"""Wordlist: many short words written on few lines."""


def listed(words: str) -> tuple[str, ...]:
    """The words of a text, in order."""
    return tuple(words.split())
