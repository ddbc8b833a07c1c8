"""The syntax tree of expressions, sources and queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    """A value written out: number, text, boolean, null, link or duration."""

    value: object


@dataclass(frozen=True, slots=True)
class DateLiteral:
    """A date or a word such as `today`, read when the query runs."""

    text: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A field of the row, or a global such as `this`."""

    name: str


@dataclass(frozen=True, slots=True)
class Negated:
    """`!child`."""

    child: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands and `+ - * / % = != < > <= >= & |` between them."""

    left: Expression
    op: str
    right: Expression


@dataclass(frozen=True, slots=True)
class Index:
    """`target.name` or `target[index]`."""

    target: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments)`."""

    function: Expression
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Lambda:
    """`(names) => body`."""

    names: tuple[str, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[a, b]`."""

    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """`{ key: value }`."""

    values: tuple[tuple[str, Expression], ...]


Expression: TypeAlias = (
    Literal | DateLiteral | Variable | Negated | Binary | Index | Call | Lambda | ListOf | ObjectOf
)


@dataclass(frozen=True, slots=True)
class TagSource:
    """Notes with a tag, or one below it."""

    tag: str


@dataclass(frozen=True, slots=True)
class FolderSource:
    """Notes of a folder, or one note by its path; the empty path is the vault."""

    folder: str


@dataclass(frozen=True, slots=True)
class LinkSource:
    """Notes that link to a note, or that it links to."""

    file: str
    direction: str


@dataclass(frozen=True, slots=True)
class CsvSource:
    """The rows of a CSV file."""

    path: str


@dataclass(frozen=True, slots=True)
class NegatedSource:
    """Every note but these."""

    child: SourceNode


@dataclass(frozen=True, slots=True)
class BinarySource:
    """Notes of both (`&`) or of either (`|`)."""

    left: SourceNode
    op: str
    right: SourceNode


SourceNode: TypeAlias = TagSource | FolderSource | LinkSource | CsvSource | NegatedSource | BinarySource


@dataclass(frozen=True, slots=True)
class Named:
    """An expression and the name of its column."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class ListHeader:
    """`LIST [WITHOUT ID] [expression]`."""

    format: Expression | None = None
    show_id: bool = True


@dataclass(frozen=True, slots=True)
class TableHeader:
    """`TABLE [WITHOUT ID] [columns]`."""

    columns: tuple[Named, ...] = ()
    show_id: bool = True


@dataclass(frozen=True, slots=True)
class TaskHeader:
    """`TASK`."""


@dataclass(frozen=True, slots=True)
class CalendarHeader:
    """`CALENDAR date`."""

    field: Named


Header: TypeAlias = ListHeader | TableHeader | TaskHeader | CalendarHeader


@dataclass(frozen=True, slots=True)
class Where:
    """Keep the rows for which the condition holds."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class SortKey:
    """What to sort by, and which way."""

    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class Sort:
    """Order the rows."""

    keys: tuple[SortKey, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """Keep the first rows."""

    amount: Expression


@dataclass(frozen=True, slots=True)
class GroupBy:
    """One row for each value of a field."""

    field: Named


@dataclass(frozen=True, slots=True)
class Flatten:
    """One row for each element of a list."""

    field: Named


@dataclass(frozen=True, slots=True)
class LateFrom:
    """A FROM after another clause: it parses, and then cannot run."""

    source: SourceNode


Operation: TypeAlias = Where | Sort | Limit | GroupBy | Flatten | LateFrom


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query: what to show, where from, and the steps between in written order."""

    header: Header
    source: SourceNode
    operations: tuple[Operation, ...]
