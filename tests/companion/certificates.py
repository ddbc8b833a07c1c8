"""Certificates that sign themselves, as the Local REST API makes one for itself."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Certificate(NamedTuple):
    """A certificate and its key, in files."""

    certificate: Path
    key: Path

    @property
    def server(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context

    @property
    def digest(self) -> str:
        from hashlib import sha256

        return sha256(ssl.PEM_cert_to_DER_cert(self.certificate.read_text("ascii"))).hexdigest()


def self_signed(folder: Path, name: str = "Obsidian Local REST API", host: str = "127.0.0.1") -> Certificate:
    """A certificate for a host that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    return _written(folder, key, _signed(key, _name(name), host, key, _name(name)))


def signed_by(issuer: Certificate, folder: Path, host: str) -> Certificate:
    """A certificate for a host that another one vouches for."""
    above = x509.load_pem_x509_certificate(issuer.certificate.read_bytes())
    signer = serialization.load_pem_private_key(issuer.key.read_bytes(), None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    return _written(folder, key, _signed(key, _name("below"), host, signer, above.subject))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _signed(
    key: ec.EllipticCurvePrivateKey,
    subject: x509.Name,
    host: str,
    signer: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
) -> x509.Certificate:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))]), False)
        .add_extension(x509.BasicConstraints(ca=key is signer, path_length=None), critical=True)
        .sign(signer, hashes.SHA256())
    )


def _written(folder: Path, key: ec.EllipticCurvePrivateKey, made: x509.Certificate) -> Certificate:
    folder.mkdir(parents=True, exist_ok=True)
    found = Certificate(folder / "certificate.pem", folder / "key.pem")
    found.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    found.key.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return found
