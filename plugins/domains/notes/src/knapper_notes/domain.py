"""The notes domain itself; its tools are in the modules beside it."""

from knapper import Domain

notes = Domain("notes", summary="Read and write notes.", group="notes")
