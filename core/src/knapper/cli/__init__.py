"""The command line. Serving takes a way of its own, which imports next to nothing before the first answer."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Serve where a vault or `serve` is named, else run the command."""
    arguments = sys.argv[1:]
    if _serves(arguments):
        from knapper.cli.serve import serve

        try:
            return serve(arguments[1:] if arguments[0] == "serve" else arguments)
        except KeyboardInterrupt:  # while it still starts; one that listens ends in its own way
            return 1
    from knapper.cli.app import main as command

    return command()


def _serves(arguments: list[str]) -> bool:
    if not arguments or not {"--help", "-h"}.isdisjoint(arguments):
        return False
    first, *rest = arguments
    if first == "serve":
        return True
    # A vault is followed by options or nothing; a plugin's command may have the name of a folder that is here.
    bare = not rest or rest[0].startswith("-")
    return not first.startswith("-") and (_spelled_as_path(first) or (bare and _is_path(first)))


def _spelled_as_path(word: str) -> bool:
    return os.sep in word or "/" in word or word in (".", "..") or word.startswith("~")


def _is_path(word: str) -> bool:
    """Whether a bare word names a vault or a file; one that is a command is the command."""
    command = os.path.join(os.path.dirname(__file__), f"{word}.py")  # noqa: PTH118, PTH120 (pathlib costs 10 ms)
    return os.path.exists(word) and not os.path.exists(command)  # noqa: PTH110
