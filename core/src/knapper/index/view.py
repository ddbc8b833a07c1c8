"""The index as a tool sees it: every answer limited to what the caller may read, inside the query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knapper.index.queries.around import Around
from knapper.index.queries.base import BEGUN_ANEW
from knapper.index.queries.data import Data
from knapper.index.queries.files import Files
from knapper.index.queries.kept import Kept
from knapper.index.queries.links import Links
from knapper.index.queries.properties import Properties
from knapper.index.queries.tags import Tags
from knapper.index.queries.whole import Whole
from knapper.index.status import Status

if TYPE_CHECKING:
    from knapper.index.engine import Index
    from knapper.index.permitted import Readable


class IndexView(Files, Tags, Properties, Links, Kept, Around, Data, Whole):
    """All questions that can be asked of a vault's index; `incomplete` says what answers do not cover yet, in words."""

    def __init__(self, index: Index, readable: Readable | None) -> None:
        super().__init__(index, readable)
        self._epoch = index.db.epoch
        self._lacking = index.coverage(readable)

    @property
    def incomplete(self) -> str:
        """What was lacking when the view was opened; or that another file, begun anew, took the place of the index since."""
        return self._lacking or (BEGUN_ANEW if self._index.db.epoch != self._epoch else "")

    def status(self) -> Status:
        return self._index.status(self._readable)

    def renew_texts(self, paths: Iterable[str]) -> None:
        """Have search find what a domain has just learnt of the text of files that are not notes."""
        self._index.renew_texts(paths)

    def level(self) -> None:
        """Have the index cover every file: for changes that must miss none, where an answer could say what it lacks.

        Should it be begun anew after that, what is asked is refused, so that nothing is done by half an answer.
        """
        if self._index.coverage():
            self._index.reconcile()
        self._only = self._index.db.epoch
