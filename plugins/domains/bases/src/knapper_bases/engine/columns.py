"""The columns of a view: a property id, and what it means for a row."""

from knapper_bases.engine.compiler import Compiler
from knapper_bases.engine.errors import BasesError, BudgetExceeded
from knapper_bases.engine.file_methods import FILE_FIELDS
from knapper_bases.engine.row import Evaluate, Row
from knapper_bases.engine.run import Run


def column(name: str, run: Run) -> Evaluate:
    """Compile a property id: `file.x`, `formula.x`, `note.x`, or a bare name for a note's property."""
    scope, dot, rest = name.partition(".")
    if dot and scope == "formula":
        return lambda row: row.formula(rest)
    if dot and scope == "file":
        return _file_column(rest)
    return Compiler(run, frozenset()).property(rest if dot and scope == "note" else name)


def cell(evaluate: Evaluate, row: Row) -> object:
    """Give a row's value in a column; what fails there is the cell's value, and only an empty budget stops all."""
    try:
        return evaluate(row)
    except BudgetExceeded:
        raise
    except BasesError as wrong:
        return wrong


def _file_column(name: str) -> Evaluate:
    field = FILE_FIELDS.get(name)

    def evaluate(row: Row) -> object:
        if field is None:
            raise BasesError(f'Cannot find "{name}" on type File')
        return field(row.run, row.file)

    return evaluate
