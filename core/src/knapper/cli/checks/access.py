"""Who may call: the policy for HTTP, a token's age, and the ports that have to be free."""

from __future__ import annotations

import base64
import json
import socket
import time
from typing import Any, TypeGuard

from knapper.cli._terminal import stamp
from knapper.cli.checks.report import Check, Finding
from knapper.cli.checks.subject import Subject
from knapper.config.interlocks import is_loopback

MONTH = 31 * 86_400


def policy(subject: Subject) -> Finding:
    settings = subject.settings
    if settings is None or not settings.transports.http.enabled:
        return Finding("only stdio is served: the caller is the local user")
    auth = settings.auth
    found = Finding(f"HTTP callers are checked by {', '.join(auth.order)}" if auth.order else "")
    if not auth.order:
        found.summary = "HTTP callers are not checked"
        found.warn(
            "auth.mode is 'none': every program on this machine can call every tool",
            "Set auth.mode to 'jwt' or 'apikey', unless nobody else uses the machine.",
        )
    for name in auth.order:
        if subject.registry is not None and name not in subject.registry.verifiers:
            found.fail(f"no installed plugin verifies {name!r}", f"pip install knapper-verifier-{name}")
    if not settings.transports.http.enable_dns_rebinding_protection:
        found.warn("web pages can reach the server", "Set enable_dns_rebinding_protection to true.")
    if auth.token_ttl_seconds > MONTH:
        found.warn("tokens are accepted for over a month", "Set auth.token_ttl_seconds lower.")
    return found


def max_age(subject: Subject) -> Finding:
    """The token is only decoded: whether its signature holds is the server's business."""
    if subject.token is None:
        return Finding("no token was given to look at")
    try:
        claims = _claims(subject.token)
    except ValueError:
        found = Finding("the token cannot be read")
        found.fail("it is not a JSON Web Token", "Mint one with `knapper token mint`.")
        return found
    now, issued, ends = time.time(), claims.get("iat"), claims.get("exp")
    found = Finding("the token is valid by its dates")
    found.details = {name: stamp(at) for name, at in (("issued", issued), ("expires", ends)) if _is_time(at)}
    longest = subject.settings.auth.token_ttl_seconds if subject.settings else 86_400
    if not _is_time(ends):
        found.fail("it has no exp, and the server demands one", "Mint one with `knapper token mint`.")
    elif ends <= now:
        found.fail(f"it expired on {stamp(ends)}", "Mint a new one with `knapper token mint`.")
    if _is_time(issued):
        if now - issued > longest:
            found.fail(
                "it is older than auth.token_ttl_seconds allows, whatever its exp says",
                "Mint a new one, or raise auth.token_ttl_seconds.",
            )
        elif _is_time(ends) and ends > issued + longest:
            found.warn(
                f"it will be refused from {stamp(issued + longest)} on, before its exp",
                "Renew it before then.",
            )
    return found


def _claims(token: str) -> dict[str, Any]:
    parts = token.strip().split(".")
    if len(parts) != 3:
        raise ValueError("a token has three parts")
    claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    if not isinstance(claims, dict):
        raise ValueError("claims are an object")
    return claims


def _is_time(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def ports(subject: Subject) -> Finding:
    settings = subject.settings
    found = Finding("the ports are free")
    wanted = []
    if settings is not None and settings.transports.http.enabled:
        wanted.append(("transports.http", settings.transports.http.host, settings.transports.http.port))
    if settings is not None and settings.observability.prometheus.enabled:
        metrics = settings.observability.prometheus
        wanted.append(("observability.prometheus", metrics.bind, metrics.port))
    for key, host, port in wanted:
        problem = _problem(host, port)
        found.details[key] = f"{host}:{port} {problem or 'free'}"
        if problem:
            found.warn(
                f"{key}: {host}:{port} is {problem}",
                "Is the server running already? Else choose another port.",
            )
        if not is_loopback(host):
            found.notes.append(f"{key} listens beyond this machine.")
    if not wanted:
        found.summary = "no port is used: clients start the server and speak over stdio"
    elif found.issues:
        found.summary = "a port cannot be used"
    return found


def _problem(host: str, port: int) -> str:
    """Why the address cannot be listened on, by trying."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), port))
        except OSError as error:
            return (error.strerror or str(error)).lower()
    return ""


CHECKS: dict[str, Check] = {"auth.policy": policy, "auth.max_age": max_age, "transports.ports": ports}
