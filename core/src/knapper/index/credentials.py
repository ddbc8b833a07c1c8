"""Text that has the shape of a credential: its passage is not ranked and no model is sent it.

A note may hold a key. Whoever reads the note sees it; that it comes along with an answer to another question, or goes to
the provider of an embedding model, nobody has asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

VALUE = r"[A-Za-z0-9+/_~.=-]"
# Looked for before an assignment, since assignments are few.
NAME = re.compile(
    r"""(?:(?:api|access|secret|private|auth|account|client|encryption|signing)[ _-]?key|secret|token|passwd|password|"""
    r"""passphrase|pwd)["'`]?[ \t]*\Z""",
    re.IGNORECASE,
)
LONGEST_NAME = 24


class Shape(NamedTuple):
    """What a kind of credential looks like; one of the marks stands in every text that holds one, in any case."""

    name: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    entropy: float = 0.0  # bits a character that the value has at least; words and placeholders have fewer
    named: re.Pattern[str] | None = None  # what the value is assigned to, where only its name tells


SHAPES = (
    Shape("aws_access_key_id", ("akia", "asia"), re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    Shape(
        "github_token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    ),
    Shape("jwt", ("eyj",), re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")),
    Shape(
        "private_key_block",
        ("private key",),
        re.compile(
            r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:.*?-----END [A-Z ]+-----|.*)", re.DOTALL
        ),
    ),
    Shape(
        "vendor_prefixed_key",
        ("sk-", "sk_live_", "rk_live_", "aiza", "glpat-", "npm_", "hf_", "pypi-", "dop_v1_", "sg."),
        re.compile(
            r"\b(?:sk-(?:[a-z]+-)*[A-Za-z0-9_]{20,}|[sr]k_live_[A-Za-z0-9]{16,}|AIza[\w-]{35}|glpat-[\w-]{20,}|"
            r"npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,}|pypi-[\w-]{50,}|dop_v1_[a-f0-9]{60,}|SG\.[\w-]{16,}\.[\w-]{16,})"
        ),
    ),
    Shape("slack_token", ("xox",), re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}")),
    Shape(
        "connection_string_credential",
        ("://",),
        re.compile(r"://[^\s:/@]*:(?P<value>[^\s/@]{6,})@"),
        3.0,
    ),
    Shape(
        "generic_key_assignment",
        ("key", "secret", "token", "passw", "passphrase", "pwd"),
        re.compile(rf"""[=:][ \t]*["'`]?(?P<value>{VALUE}{{16,}})"""),
        3.5,
        NAME,
    ),
)


class Credential(NamedTuple):
    """Where in a text something has the shape of a credential, and of which kind."""

    kind: str
    start: int
    end: int


def credentials(text: str) -> Iterator[Credential]:
    """What in a text has the shape of a credential."""
    lower = text.lower()
    for shape in SHAPES:
        if not any(mark in lower for mark in shape.marks):
            continue
        for found in shape.pattern.finditer(text):
            start = found.start()
            if shape.entropy and not _is_random(found["value"], shape.entropy):
                continue
            if shape.named is not None:
                before = text[max(0, start - LONGEST_NAME) : start]
                if not (_is_mixed(found["value"]) and shape.named.search(before)):
                    continue
            yield Credential(shape.name, start, found.end())


def _is_random(value: str, least: float) -> bool:
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts) >= least


def _is_mixed(value: str) -> bool:
    """Digits among letters: what is made of words alone is a sentence, a path or a slug."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))
