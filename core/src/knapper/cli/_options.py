"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def source(command: F) -> F:
    """The argument most commands end with: a vault folder or a configuration file."""
    return click.argument("path", required=False, metavar="[VAULT|CONFIG]")(command)


def as_json(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def named_source(command: F) -> F:
    """The same as an option, for commands whose arguments are something else."""
    option = click.option("--config", "path", metavar="VAULT|CONFIG", help="The vault or file it belongs to.")
    return option(command)
