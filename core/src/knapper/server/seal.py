"""States that a client carries for us but cannot write: signed, and bound to one call of one caller."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import secrets
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec


class State(msgspec.Struct, array_like=True, frozen=True):
    """A call that waits for its client: whose it is, until when, and what was answered so far."""

    method: str
    name: str
    args_hash: str
    caller: str | None
    expires: float
    answers: dict[str, Any] = {}
    approval: str = ""
    shown: str = ""  # the digest of what a person was asked


def seal(folder: Path, state: State) -> str:
    packed = msgspec.msgpack.encode(state)
    return base64.urlsafe_b64encode(_sign(folder, packed) + packed).rstrip(b"=").decode()


def unseal(folder: Path, sealed: str) -> State | None:
    """The state, or None where it is not one that we signed."""
    try:
        raw = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
    except (binascii.Error, ValueError):
        return None
    if not hmac.compare_digest(raw[:32], _sign(folder, raw[32:])):
        return None
    return msgspec.msgpack.decode(raw[32:], type=State)


def _sign(folder: Path, packed: bytes) -> bytes:
    return hmac.digest(_secret(folder / "request-state.key"), packed, sha256)


def _secret(path: Path) -> bytes:
    """The signing key of this data folder, made on first use; every process of the folder has the same."""
    if not path.exists():
        made = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
        with suppress(FileExistsError):
            os.link(made, path)  # the first one wins, and nobody reads half a key
        made.unlink()
    return path.read_bytes()
