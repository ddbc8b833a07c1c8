"""Functions on lists; `filter`, `map` and `reduce` take expressions and are the compiler's."""

from functools import cmp_to_key
from statistics import median

from knapper_bases.engine.arguments import MANY, Method, bounds, flattened, string
from knapper_bases.engine.compare import compare, equal, identity, sort_key, tag_matches
from knapper_bases.engine.run import Run
from knapper_bases.engine.text import joined
from knapper_bases.engine.values import Tag


def _has(run: Run, items: list[object], wanted: object) -> bool:
    run.budget.spend(len(items) + 1)
    for item in items:
        if equal(item, wanted, run):
            return True
        if isinstance(item, Tag) and isinstance(wanted, str) and tag_matches(item, wanted):
            return True
    return False


def _contains(run: Run, items: list[object], args: list[object]) -> bool:
    wanted = args[0]
    if isinstance(wanted, list):
        return any(equal(item, wanted, run) for item in items)
    return _has(run, items, wanted)


def _contains_all(run: Run, items: list[object], args: list[object]) -> bool:
    return all(_has(run, items, wanted) for wanted in flattened(args))


def _contains_any(run: Run, items: list[object], args: list[object]) -> bool:
    return any(_has(run, items, wanted) for wanted in flattened(args))


def _flat(run: Run, items: list[object], args: list[object]) -> list[object]:
    run.budget.spend(len(items) + 1)
    found: list[object] = []
    for item in items:
        found += _flat(run, item, args) if isinstance(item, list) else [item]
        run.budget.check_length(len(found))
    return found


def _sorted(run: Run, items: list[object], args: list[object]) -> list[object]:
    run.budget.spend(2 * len(items))
    present = [item for item in items if item is not None]
    missing: list[object] = [None] * (len(items) - len(present))
    return sorted(present, key=lambda item: sort_key(item, run)) + missing


def _unique(run: Run, items: list[object], args: list[object]) -> list[object]:
    run.budget.spend(len(items))
    found: dict[tuple[str, str], object] = {}
    for item in items:
        found.setdefault(identity(item, run), item)
    return list(found.values())


def numbers(items: list[object]) -> list[float]:
    """Give the numbers of a list."""
    return [item for item in items if isinstance(item, int | float) and not isinstance(item, bool)]


def mean(items: list[object]) -> float | None:
    """Give the average of a list's numbers."""
    found = numbers(items)
    return sum(found) / len(found) if found else None


def extreme(run: Run, items: list[object], sign: int) -> object:
    """Give the least or the greatest of the values that can be ordered."""
    present = [item for item in items if item is not None]
    order = cmp_to_key(lambda a, b: compare(a, b, run) or 0)
    return (max if sign > 0 else min)(present, key=order) if present else None


LIST_METHODS: dict[str, Method] = {
    "contains": Method(_contains, 1, 1),
    "containsAll": Method(_contains_all, 0, MANY),
    "containsAny": Method(_contains_any, 0, MANY),
    "flat": Method(_flat),
    "join": Method(
        lambda run, items, args: joined(items, string(args[0], run) if args else ",", run.budget), 0, 1
    ),
    "reverse": Method(lambda run, items, args: items[::-1]),
    "slice": Method(lambda run, items, args: items[slice(*bounds(args, len(items), "slice"))], 1, 2),
    "sort": Method(_sorted),
    "unique": Method(_unique),
    "mean": Method(lambda run, items, args: mean(items)),
    "sum": Method(lambda run, items, args: sum(numbers(items))),
    "min": Method(lambda run, items, args: extreme(run, items, -1)),
    "max": Method(lambda run, items, args: extreme(run, items, 1)),
    "median": Method(lambda run, items, args: median(numbers(items)) if numbers(items) else None),
}
