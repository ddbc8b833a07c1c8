"""TLS by certificate files: the listener speaks it, and says what is wrong with files that it cannot use."""

from __future__ import annotations

import datetime
import http.client
import ipaddress
import json
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.server.conftest import Place, Web

Start = Callable[..., Web]
CERTIFICATE, KEY = "transports.http.certificate_file", "transports.http.key_file"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for this machine, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now - day, now + day
        )
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, private = tmp_path / "server.pem", tmp_path / "server.key"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return certificate, private


def test_a_listener_with_a_certificate_is_reached_by_https_only(web: Start, files: tuple[Path, Path]) -> None:
    one = web("--set", f"{CERTIFICATE}={files[0]}", "--set", f"{KEY}={files[1]}")
    assert one.url == f"https://127.0.0.1:{one.port}/mcp"
    trusting = ssl.create_default_context(cafile=str(files[0]))
    connection = http.client.HTTPSConnection(one.host, one.port, timeout=30, context=trusting)
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["status"]) == (200, "ok")
    connection.close()
    with pytest.raises((http.client.HTTPException, OSError)):
        one.request("GET", "/healthz")


@pytest.mark.parametrize("wrong", ["missing", "no certificate"])
def test_files_that_cannot_be_used_stop_the_start(place: Place, files: tuple[Path, Path], wrong: str) -> None:
    if wrong == "missing":
        files[0].unlink()
    else:
        files[0].write_text("not a certificate")
    options = ["--port", "0", "--set", f"{CERTIFICATE}={files[0]}", "--set", f"{KEY}={files[1]}"]
    ended = subprocess.run(
        [*place.command, *options], env=place.env, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "knapper: transports.http.certificate_file: " in ended.stderr
    assert "Traceback" not in ended.stderr
