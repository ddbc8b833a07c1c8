"""Findings, and the report they make: one shape for people and for programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from knapper import __version__
from knapper.cli.checks.subject import Subject

Status = Literal["ok", "warning", "fail"]
RANK: tuple[Status, ...] = ("ok", "warning", "fail")


@dataclass
class Finding:
    """What a check found; it is well until an issue says otherwise."""

    summary: str = ""
    status: Status = "ok"
    details: dict[str, str | list[str]] = field(default_factory=dict)
    issues: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    remediation: str | None = None

    def warn(self, issue: str, remedy: str | None = None) -> None:
        """Something works less well than it could."""
        self._found("warning", issue, remedy)

    def fail(self, issue: str, remedy: str | None = None) -> None:
        """Something does not work."""
        self._found("fail", issue, remedy)

    def _found(self, status: Status, issue: str, remedy: str | None) -> None:
        self.status = worst(self.status, status)
        self.issues.append(issue)
        self.remediation = self.remediation or remedy


Check = Callable[[Subject], Finding]


def worst(*statuses: Status) -> Status:
    return max(statuses, key=RANK.index, default="ok")


def report(checks: Mapping[str, Check], subject: Subject) -> dict[str, Any]:
    """Run the checks; one that raises has failed, and says so."""
    rows = {id: _row(id, *_timed(check, subject)) for id, check in sorted(checks.items())}
    return {
        "schemaVersion": 1,
        "generatedAt": datetime.now(UTC).isoformat(timespec="seconds"),
        "overallStatus": worst(*(row["status"] for row in rows.values())),
        "serverVersion": __version__,
        "checks": rows,
    }


def _timed(check: Check, subject: Subject) -> tuple[Finding, float]:
    started = time.perf_counter()
    try:
        finding = check(subject)
    except Exception as error:  # noqa: BLE001 - whatever a check meets is its finding
        finding = Finding("the check itself failed")
        finding.fail(f"{type(error).__name__}: {error}", "Report it with the text above.")
    return finding, (time.perf_counter() - started) * 1000


def _row(id: str, finding: Finding, milliseconds: float) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": id,
        "category": id.partition(".")[0],
        "status": finding.status,
        "summary": finding.summary or (finding.issues[0] if finding.issues else ""),
        "details": finding.details,
        "issues": finding.issues,
        "notes": finding.notes,
        "durationMs": round(milliseconds, 1),
    }
    return row | ({"remediation": finding.remediation} if finding.remediation else {})
