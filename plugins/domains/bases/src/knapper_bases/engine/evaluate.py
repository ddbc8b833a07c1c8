"""Evaluating one expression for one file."""

from collections.abc import Mapping
from datetime import datetime

from knapper_bases.engine.budget import Budget
from knapper_bases.engine.compiler import compile_expression
from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.row import Evaluate, Row
from knapper_bases.engine.run import Run
from knapper_bases.engine.source import Source


def evaluate(
    expression: str,
    source: Source,
    path: str,
    *,
    formulas: Mapping[str, str] | None = None,
    now: datetime | None = None,
    this: str | None = None,
    budget: Budget | None = None,
) -> object:
    """Give the value of an expression for the file at a path; a fault is raised as a BasesError."""
    run = Run(source, budget or Budget(), now, this or path)
    file = run.file(path)
    if file is None:
        raise BasesError(f"There is no file at {path!r}", expression)
    row = Row(run, file, compile_formulas(formulas or {}, run))
    return compile_expression(expression, run)(row)


def compile_formulas(formulas: Mapping[str, str], run: Run) -> dict[str, Evaluate]:
    """Compile formulas; one that cannot be read fails only where it is used."""
    return {name: compile_leniently(text, run) for name, text in formulas.items()}


def compile_leniently(text: str, run: Run, variables: frozenset[str] = frozenset()) -> Evaluate:
    """Compile an expression, or give a closure that raises what is wrong with its text."""
    try:
        return compile_expression(text, run, variables)
    except BasesError as wrong:
        fault = wrong

    def fail(row: Row) -> object:
        raise fault.with_traceback(None)

    return fail
