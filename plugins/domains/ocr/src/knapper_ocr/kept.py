"""What was read, kept by the content it was read from: read once, found wherever that content is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from knapper import Migration, typed
from knapper.domain import FileText
from knapper_ocr.reading import PageText, Reading

if TYPE_CHECKING:
    from knapper.index.derived import Unread
    from knapper.store.state import DomainStore

TABLES = [
    Migration(
        "20260101_001",
        "CREATE TABLE ocr_texts (vault_id TEXT NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL, how TEXT NOT NULL,"
        " pages TEXT NOT NULL, read_at REAL NOT NULL, PRIMARY KEY (vault_id, hash))",
    )
]
PAGES = typed.decoder(list[PageText])


class Kept(NamedTuple):
    """The texts of one vault."""

    store: DomainStore
    vault: str

    def find(self, hash: str) -> Reading | None:
        sql = "SELECT pages, how FROM ocr_texts WHERE vault_id = ? AND hash = ?"
        with self.store.read() as conn:
            row = conn.exec_driver_sql(sql, (self.vault, hash)).first()
        return None if row is None else Reading(PAGES.decode(row[0]), row[1])

    def keep(self, hash: str, size: int, reading: Reading, now: float) -> None:
        pages = msgspec.json.encode(reading.pages).decode()
        sql = "INSERT OR REPLACE INTO ocr_texts VALUES (?, ?, ?, ?, ?, ?)"
        with self.store.write() as conn:
            conn.exec_driver_sql(sql, (self.vault, hash, size, reading.how, pages, now))

    def texts(self, files: Sequence[Unread]) -> Iterator[FileText]:
        """What is kept of these files; only one as large as something that was read is worth its hash."""
        with self.store.read() as conn:
            sql = "SELECT DISTINCT size FROM ocr_texts WHERE vault_id = ?"
            sizes = {size for (size,) in conn.exec_driver_sql(sql, (self.vault,))}
        for file in files:
            if file.size in sizes and (hash := file.hash()) and (found := self.find(hash)):
                yield FileText(file.path, hash, [page.text for page in found.pages])
