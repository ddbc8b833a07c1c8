"""Whom to trust at the other end: the certificate that the Local REST API signed for itself, by its digest or its file.

The key goes only to the holder of that certificate: it is compared when the connection stands, before a request is sent.
"""

from __future__ import annotations

import hashlib
import json
import re
import ssl
from pathlib import Path
from typing import Any

from knapper.config.paths import expanded

DATA = ".obsidian/plugins/obsidian-local-rest-api/data.json"
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_DIGEST = re.compile(r"(?:sha-?256:)?((?:[0-9a-f]{2}:?){32})", re.IGNORECASE)


class Trusting(ssl.SSLContext):
    """Takes a certificate whose SHA-256 digest is known for any host, and what it signed for the host that is asked."""

    digests: frozenset[str] = frozenset()

    def wrap_socket(self, *given: Any, **named: Any) -> ssl.SSLSocket:
        """The connection, or an error where somebody else holds the other end."""
        connection = super().wrap_socket(*given, **named)
        if digest(connection.getpeercert(binary_form=True) or b"") in self.digests:
            return connection
        if named.get("server_hostname") in _names(connection):
            return connection
        connection.close()
        raise ssl.SSLCertVerificationError("the certificate is not the one that is trusted")


def digest(certificate: bytes) -> str:
    """The SHA-256 digest of a certificate's DER bytes, in lower-case hex."""
    return hashlib.sha256(certificate).hexdigest()


def context(certificate: str | None, vault: str) -> ssl.SSLContext:
    """A context by the vault's setting, else by the certificate that the plugin keeps in the vault, else the system's.

    Raises OSError or ValueError where the setting is neither a digest nor a file with a certificate.
    """
    if certificate is None:
        kept = _kept(expanded(vault) / DATA)
        return _by_text(kept) if kept else ssl.create_default_context()
    if found := _DIGEST.fullmatch(certificate.strip()):
        return _by_digest(found[1].replace(":", "").lower())
    file = expanded(vault) / expanded(certificate)
    return _by_text(file.read_text("ascii", "replace"))


def _by_digest(known: str) -> Trusting:
    made = Trusting(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.digests = frozenset({known})
    return made


def _by_text(text: str) -> Trusting:
    found = _PEM.findall(text)
    if not found:
        raise ValueError("it holds no certificate")
    made = Trusting(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False  # wrap_socket does it, where the certificate is not the very one
    made.load_verify_locations(cadata="\n".join(found))
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    # The plugin's certificates lack what newer Pythons ask of an authority's.
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    made.digests = frozenset(digest(ssl.PEM_cert_to_DER_cert(pem)) for pem in found)
    return made


def _names(connection: ssl.SSLSocket) -> set[str]:
    """The hosts of a certificate that was verified; of another there are none."""
    listed: Any = (connection.getpeercert() or {}).get("subjectAltName", ())
    return {name for kind, name in listed if kind in ("DNS", "IP Address")}


def _kept(file: Path) -> str | None:
    try:
        kept = json.loads(file.read_bytes())["crypto"]["cert"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return kept if isinstance(kept, str) and _PEM.search(kept) else None
