"""Formats: QuickAdd's `{{…}}` syntax; what a caller gives is written as it is, and never read as syntax again."""

from __future__ import annotations

import re
import secrets
import string
from datetime import datetime
from functools import cached_property

from knapper import Context, ToolError
from knapper.script.budget import Budget
from knapper.script.scope import Clock
from knapper.vault import moment, paths
from knapper.vault.weeks import week_of
from knapper_quickadd.active import link_to
from knapper_quickadd.choices import part, settings
from knapper_quickadd.dates import DAY, TIME, date, said
from knapper_quickadd.inputs import Inputs, one_of
from knapper_quickadd.sources import NeedsPlugin, Place, template_text
from knapper_quickadd.values import Asked, value

DEEPEST = 10
LONGEST = 1_000_000
# A format ends at the first }}, so that none is looked for across a whole note.
_TOKEN = re.compile(r"\{\{([A-Za-z_]{4,16})([^{}\n\r]{0,500})\}\}")
_SCRIPT = re.compile(r"^`{3,}\s*js\s+quickadd", re.MULTILINE | re.IGNORECASE)
_COMMAND = re.compile("<%.*?%>", re.DOTALL)
# Until Templater has run, what a caller gave is marked, and the signs that would make a command of it are others.
_GIVEN = "\U0010fff3"
_GUARDS = str.maketrans({"<": "\U0010fff1", "%": "\U0010fff2"})
_UNGUARDED = str.maketrans({"\U0010fff1": "<", "\U0010fff2": "%", _GIVEN: None})
STEPS, SECONDS = 200_000, 5.0
A_TEMPLATE = 100
_RANDOM = string.ascii_letters + string.digits


class Formats:
    """Fills in formats for one run of a choice; the same question has the same answer everywhere in it."""

    def __init__(self, ctx: Context, inputs: Inputs) -> None:
        self.ctx = ctx
        self.inputs = inputs
        self.clock = Clock(datetime.fromtimestamp(ctx.now()), week_of(ctx.vault))
        self._budget = Budget(STEPS, SECONDS)
        self._length = 0

    @cached_property
    def active(self) -> str | None:
        """The note that the caller says is open, None where it says none."""
        given = self.inputs.text("active_file")
        return None if given is None else self.ctx.vault.authorise("read", self.ctx.find_note(given))

    def need_active(self, about: str) -> str:
        """The open note, which is asked for where it is not given."""
        return self.active or self.inputs.need("active_file", about, placeholder="x.md")

    def fill(self, source: str, place: Place | None = None) -> str:
        """A text with its formats filled in; what is no format stays."""
        return self.finished(self.guarded(source, place or Place()))

    @staticmethod
    def finished(text: str) -> str:
        """A text as it is written, with the guards of what callers gave taken away."""
        return text.translate(_UNGUARDED)

    def guarded(self, source: str, place: Place, depth: int = 0) -> str:
        """The same, with what looks like a Templater command in what was filled in made none."""
        if depth > DEEPEST:
            raise ToolError(
                "compute_budget_exceeded", f"templates include each other more than {DEEPEST} deep"
            )
        if _SCRIPT.search(source):
            raise NeedsPlugin("inline JavaScript (js quickadd)")
        filled = _TOKEN.sub(lambda found: self._filled(found, place, depth), source)
        self._length += len(filled)
        if self._length > LONGEST:
            raise ToolError("compute_budget_exceeded", f"the choice writes more than {LONGEST} characters")
        return filled

    def _filled(self, found: re.Match[str], place: Place, depth: int) -> str:
        name, whole = found[1].upper(), found[2]
        rest, *options = whole.split("|")
        self._budget.spend()
        written = self._dated(name, rest, options)
        if written is None:
            written = self._about_notes(name, rest, options, place)
        if written is None:
            written = self._asked(name, rest, options)
        if written is not None:
            return _GIVEN + written.translate(_GUARDS) if written else ""
        written = self._inserted(name, rest.removeprefix(":"), place, depth)
        return found[0] if written is None else written

    def _dated(self, name: str, rest: str, options: list[str]) -> str | None:
        if name == "DATE":
            return date(rest, options, self.clock)
        if name == "TIME" and not options and (not rest or rest.startswith(":")):
            return moment.format(self.clock.now, rest[1:] or TIME, week=self.clock.week)
        if name == "VDATE" and rest.startswith(":"):
            return self._variable_date(rest[1:], options)
        return None

    def _variable_date(self, rest: str, options: list[str]) -> str:
        variable, _, form = (piece.strip() for piece in rest.partition(","))
        given = self.inputs.text(variable) or (options[0].strip() if options else None)
        if given is None:
            return self.inputs.need(variable, f"a date, as YYYY-MM-DD, for {form or DAY}")
        return moment.format(said(given, form or DAY, self.clock), form or DAY, week=self.clock.week)

    def _about_notes(self, name: str, rest: str, options: list[str], place: Place) -> str | None:
        if rest:
            return None
        if name == "TITLE":
            return place.title
        if name == "FOLDER":
            folder = paths.parent(place.path)
            return paths.name(folder) if "name" in options else folder
        if name in ("LINKCURRENT", "LINKSECTION", "FILENAMECURRENT", "FOLDERCURRENT"):
            return self._about_active(name, options, place)
        return None

    def _about_active(self, name: str, options: list[str], place: Place) -> str:
        if self.active is None and "optional" in options:
            return ""
        active = self.need_active(f"the note that is open, for {{{{{name}}}}}")
        if name == "FILENAMECURRENT":
            return Place(active).title
        if name == "FOLDERCURRENT":
            return paths.parent(active)
        heading = ""
        if name == "LINKSECTION":
            given = self.inputs.text("active_section")
            heading = (
                given
                if given is not None
                else self.inputs.need("active_section", "the heading the cursor is under")
            )
        return link_to(self.ctx, active, place.path, heading)

    def _asked(self, name: str, rest: str, options: list[str]) -> str | None:
        if name in ("VALUE", "NAME") and (not rest or rest.startswith(":")):
            return value(self.inputs, Asked.read(rest[1:], options))
        if name == "MVALUE" and not rest:
            given = self.inputs.text("mvalue")
            return given if given is not None else self.inputs.need("mvalue", "a formula in LaTeX")
        if name == "SELECTED" and not rest:
            return self.inputs.text("selected") or ""
        if name == "CLIPBOARD" and not rest:
            given = self.inputs.text("clipboard")
            return given if given is not None else self.inputs.need("clipboard", "what the clipboard holds")
        if name == "FIELD" and rest.startswith(":"):
            return value(self.inputs, Asked.field(rest[1:].strip(), options))
        if name == "FILE" and rest.startswith(":"):
            return self._file_in(rest[1:].strip().strip("/"))
        return None

    def _file_in(self, folder: str) -> str:
        entries = (
            self.ctx.vault.walk(folder, extensions=[".md"])
            if self.ctx.vault.exists(folder) == "folder"
            else ()
        )
        options = [Place(entry.path).title for entry in entries]
        name = f"FILE:{folder}"
        given = self.inputs.text(name)
        if given is None:
            return self.inputs.need(name, f"a note in {folder}", options)
        return one_of(given, options, name)

    def _inserted(self, name: str, rest: str, place: Place, depth: int) -> str | None:
        if name == "TEMPLATE":
            self._budget.spend(A_TEMPLATE)
            return self.guarded(template_text(self.ctx, rest.strip()), place, depth + 1)
        if name == "GLOBAL_VAR":
            known = {
                key.casefold(): item for key, item in part(settings(self.ctx), "globalVariables").items()
            }
            found = known.get(rest.strip().casefold())
            return self.guarded(found, place, depth + 1) if isinstance(found, str) else None
        if name == "RANDOM":
            length = int(rest) if rest.isdecimal() and len(rest) < 4 else 0
            return "".join(secrets.choice(_RANDOM) for _ in range(length)) if 1 <= length <= 100 else None
        if name == "MACRO":
            raise NeedsPlugin(f"the macro {rest.strip()!r}")
        return None

    def note_text(self, source: str, place: Place, template: str, old: str = "") -> str:
        """The text for a note, with formats filled in and Templater's commands run as QuickAdd has them run."""
        return self.finished(self.templated(self.guarded(source, place), place, template, old))

    def templated(self, text: str, place: Place, template: str, old: str = "") -> str:
        """A text with Templater's commands in it run."""
        if "<%" not in text:
            return text
        if any(_GIVEN in command for command in _COMMAND.findall(text)):
            raise NeedsPlugin("a value inside of a Templater command")
        try:
            ran: str = self.ctx.service("templater.text")(
                self.ctx, template, text, place.path, old, self.inputs.all
            )
        except ToolError as error:
            if error.code != "plugin_missing":
                raise
            raise NeedsPlugin(error.details.get("construct") or "Templater's commands") from None
        return ran
