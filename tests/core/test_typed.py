"""Values as types, from many threads at once."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated, Any

import msgspec
import pytest

from knapper import typed

# Each round makes classes that nobody has used yet, and has four threads use them in the same moment.
AT_ONCE = """
import sys, threading, typing
import msgspec
from knapper import typed

sys.setswitchinterval(1e-6)

def use(ready, model, way):
    ready.wait()
    if way == "convert":
        typed.convert({"x": "a", "y": [{"a": 1}]}, model)
    else:
        typed.decode(b'{"x": "a", "y": [{"a": 1}]}', model)

for _ in range(1000):
    inner = msgspec.defstruct("Inner", [("a", int), ("b", list[str] | None, None)])
    text = typing.Annotated[str, msgspec.Meta(max_length=5)]
    outer = msgspec.defstruct("Outer", [("x", text), ("y", list[inner], []), ("z", dict[str, inner], {})])
    ready = threading.Barrier(4)
    ways = ("convert", "decode") * 2
    threads = [threading.Thread(target=use, args=(ready, outer, way)) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_many_threads_may_use_a_class_for_the_first_time_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")


class Numbered(msgspec.Struct):
    n: Annotated[int, msgspec.Meta(ge=0)]


@pytest.mark.parametrize("model", [Numbered, list[Numbered], Annotated[list[Numbered], {"no": "hash"}]])
def test_a_value_of_another_type_is_refused(model: Any) -> None:
    good: Any = {"n": 1} if model is Numbered else [{"n": 1}]
    bad: Any = {"n": -1} if model is Numbered else [{"n": -1}]
    for _ in range(2):
        assert typed.convert(good, model) == typed.decode(msgspec.json.encode(good), model)
        with pytest.raises(msgspec.ValidationError):
            typed.convert(bad, model)
        with pytest.raises(msgspec.DecodeError):
            typed.decode(msgspec.json.encode(bad), model)
