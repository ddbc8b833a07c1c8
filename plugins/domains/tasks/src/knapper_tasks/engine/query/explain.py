"""Explain: a query in words."""

from collections.abc import Sequence

from .model import Filter, Grouper, Sorter


def explained(
    filters: Sequence[Filter],
    groupers: Sequence[Grouper],
    sorters: Sequence[Sorter],
    limit: int | None,
    group_limit: int | None,
) -> str:
    """How each part of a query was understood."""
    paragraphs = [
        "\n\n".join(condition.explained().written() for condition in filters)
        or "No filters supplied. All tasks will match the query.",
        "\n".join(grouper.text for grouper in groupers) or "No grouping instructions supplied.",
        "\n".join(sorter.text for sorter in sorters) or "No sorting instructions supplied.",
    ]
    if limit is not None:
        paragraphs.append(f"{_at_most(limit)}.")
    if group_limit is not None:
        paragraphs.append(f'{_at_most(group_limit)} per group (if any "group by" options are supplied).')
    return "\n\n".join(paragraphs) + "\n"


def _at_most(limit: int) -> str:
    return f"At most {limit} task{'' if limit == 1 else 's'}"
