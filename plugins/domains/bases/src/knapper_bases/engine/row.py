"""One row: a file under evaluation, with its formulas' results and the variables of list functions."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.run import Run
from knapper_bases.engine.values import File

_RUNNING = object()


class Row:
    """A file in a run; every formula is evaluated at most once for it."""

    __slots__ = ("_results", "acc", "file", "formulas", "index", "run", "value", "values")

    def __init__(self, run: Run, file: File, formulas: "Formulas") -> None:
        self.run = run
        self.file = file
        self.formulas = formulas
        self.value: object = None
        self.index = 0
        self.acc: object = None
        # Most rows of a big vault fail the filter and need neither of these, so none is made for them.
        self.values: list[object] | None = None
        self._results: dict[str, object] | None = None

    def formula(self, name: str) -> object:
        """Give a formula's value; a formula that needs itself is an error that shows the circle."""
        results = self._results
        if results is None:
            results = self._results = {}
        elif name in results:
            return _known(results, name)
        evaluate = self.formulas.get(name)
        if evaluate is None:
            raise BasesError(f'Cannot find formula "{name}"')
        results[name] = _RUNNING
        try:
            results[name] = found = evaluate(self)
        except BasesError as wrong:
            results[name] = wrong.with_traceback(None)
            raise
        return found


def _known(results: dict[str, object], name: str) -> object:
    found = results[name]
    if isinstance(found, BasesError):
        raise found.with_traceback(None)
    if found is _RUNNING:
        circle = [other for other, result in results.items() if result is _RUNNING]
        raise BasesError(f"Circular reference: {' → '.join([*circle[circle.index(name) :], name])}")
    return found


Evaluate: TypeAlias = Callable[[Row], object]
Formulas: TypeAlias = Mapping[str, Evaluate]
