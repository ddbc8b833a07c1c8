"""JSON as all kinds of programs write it, for tests that nothing of it gets lost."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

SPACE = st.sampled_from(["", "", " ", "\t", "\n", "\n\t", "\r\n  "])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUE: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def spelled(draw: st.DrawFn, value: Any) -> str:
    """A value as some program might have written it, with a name that stands twice here and there."""
    if isinstance(value, dict):
        members = [
            (json.dumps(key, ensure_ascii=draw(st.booleans())), draw(spelled(one)))
            for key, one in value.items()
        ]
        twice: bool = draw(st.booleans())
        if members and twice:
            members.insert(0, (members[-1][0], "null"))
        parts = [
            draw(SPACE) + key + draw(SPACE) + ":" + draw(SPACE) + one + draw(SPACE) for key, one in members
        ]
        return "{" + (",".join(parts) or draw(SPACE)) + "}"
    if isinstance(value, list):
        return "[" + (",".join(draw(SPACE) + draw(spelled(one)) + draw(SPACE) for one in value)) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


def files(value: st.SearchStrategy[Any]) -> st.SearchStrategy[str]:
    """Whole files with such a value in them, some with white space around it, some with a byte order mark."""
    mark = st.sampled_from(["", "\ufeff"])
    return st.tuples(mark, SPACE, value.flatmap(spelled), SPACE).map("".join)
