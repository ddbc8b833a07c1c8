"""JSON and plain values as types, from any thread.

msgspec learns the fields of a class at its first use. Two threads that make it learn the same class at once crash the
process, so everything that is not read at import goes through here.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_learning = threading.Lock()
_learned: set[Any] = set()


def convert(value: Any, model: type[T]) -> T:
    """A plain value as a type; raises msgspec.ValidationError where it is another one."""
    _learn(model)
    return msgspec.convert(value, model)


def decode(data: bytes | str, model: type[T]) -> T:
    """JSON as a type; raises msgspec.DecodeError where it is none, or another one."""
    return decoder(model).decode(data)


def decoder(model: type[T]) -> msgspec.json.Decoder[T]:
    """What decodes JSON as a type, to be kept."""
    with _learning:
        return msgspec.json.Decoder(model)


def _learn(model: Any) -> None:
    try:
        if model in _learned:
            return
    except TypeError:  # an annotation that holds what has no hash
        decoder(model)
        return
    decoder(model)
    _learned.add(model)
