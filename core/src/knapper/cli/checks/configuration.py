"""The configuration: whether it can be read, and whether a variable was meant for it that it does not know."""

from __future__ import annotations

from difflib import get_close_matches

from knapper.cli.checks.report import Check, Finding
from knapper.cli.checks.subject import Subject
from knapper.config.load import NAMED, PREFIX, default_file
from knapper.config.sections import sections
from knapper.errors import ConfigError

VARIABLES = {
    "KNAPPER_CONFIG": "the configuration file or vault folder to use where none is named",
    "KNAPPER_STDIO_API_KEY": "the key that `knapper-stdio` sends to its host",
    "KNAPPER_STDIO_HOST": "the address of the host of `knapper-stdio`",
    "KNAPPER_STDIO_PORT": "the port of the host of `knapper-stdio`",
    "KNAPPER_STDIO_TRANSPORT": "how `knapper-stdio` talks to its host: `auto`, `mcp` or `v1`",
    "KNAPPER_STRICT_OUTPUT_SCHEMA": "check every result against its tool's output schema",
    "KNAPPER_TRACE_HOOKS": "show every hook call on stderr",
}


def valid(subject: Subject) -> Finding:
    found = Finding("the configuration is valid")
    for issue in subject.config_issues:
        found.fail(issue, "Correct the keys named; `knapper config validate` checks them again.")
    if found.issues:
        found.summary = "the configuration cannot be used"
        return found
    if subject.loaded is None:
        found.summary = "no vault is configured"
        found.warn(
            "neither a vault nor a file is named", f"Run `knapper doctor VAULT`, or write {default_file()}."
        )
        return found
    found.details["source"] = str(subject.loaded.path or "the environment")
    _check_sections(subject, found)
    return found


def _check_sections(subject: Subject, found: Finding) -> None:
    if subject.registry is None or subject.settings is None:
        return
    try:
        sections(subject.settings, subject.registry)
    except ConfigError as error:
        for issue in error.issues:
            found.fail(issue, "Correct the section, or install the plugin it is for.")


def environment(subject: Subject) -> Finding:
    """A misspelt variable does nothing and says nothing, so it is named here."""
    known = {*NAMED, *VARIABLES}
    found = Finding("every KNAPPER_ variable is known")
    for name in sorted(subject.env):
        if not name.startswith(PREFIX) or name in known or "__" in name:
            continue
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        found.warn(f"{name} is set, and nothing reads it{hint}", "Settings are KNAPPER_SECTION__KEY.")
    if found.issues:
        found.summary = "a variable is set that nothing reads"
    return found


CHECKS: dict[str, Check] = {"config.valid": valid, "config.environment": environment}
