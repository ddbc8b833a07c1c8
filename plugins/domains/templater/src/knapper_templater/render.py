"""Render: run a template natively; it may read what its caller may read, and changes nothing before its end."""

from __future__ import annotations

from datetime import datetime

from knapper import Context
from knapper.script.budget import Budget
from knapper.script.compile import Program, compile_program
from knapper.script.errors import BudgetExceeded, ScriptError
from knapper.script.scope import Clock
from knapper.script.values import UNDEFINED, Host, Record, Value, from_data, to_text
from knapper.vault.weeks import week_of
from knapper_templater.changes import Changes
from knapper_templater.dates import Dates
from knapper_templater.files import Files, Target
from knapper_templater.modules import FileValue, Module, Outside
from knapper_templater.places import places
from knapper_templater.syntax import Piece, pieces, program_tokens
from knapper_templater.system import Answers, System
from knapper_templater.variables import expand

STEPS, SECONDS, DEEPEST = 2_000_000, 5.0, 10
# What a run may take that only tells whether another one is worth asking for.
TRIAL = 0.1
OUTSIDE = ("app", "hooks", "obsidian", "user", "web")
CREATE, OVERWRITE = 0, 2


class Stopped(Exception):
    """A script that went wrong, and the template that it stands in; its text where it could not even be read."""

    def __init__(self, error: ScriptError, template: str, unread: str = "") -> None:
        super().__init__(str(error))
        self.error = error
        self.template = template
        self.unread = unread


class Config(Module):
    """`tp.config`."""

    name = "tp.config"

    def __init__(self, template: str, target: str, mode: int) -> None:
        values = {
            "template_file": lambda: FileValue(template),
            "target_file": lambda: FileValue(target),
            "active_file": lambda: UNDEFINED,
            "run_mode": lambda: mode,
        }
        super().__init__(values, {})


class Run:
    """One run of a template with all that it includes: one budget, one set of answers, one set of changes."""

    def __init__(
        self,
        ctx: Context,
        template: str,
        target: Target,
        mode: int,
        answers: Answers,
        *,
        allowed: bool = False,
        trial: bool = False,
    ) -> None:
        self.ctx = ctx
        self.answers = answers
        self.changes = Changes(ctx, target.path, allowed)
        self._template = template
        self._mode = mode
        self.target = target
        self._places = places(ctx)
        share = TRIAL if trial else 1
        self._budget = Budget(int(STEPS * share), SECONDS * share)
        self._clock = Clock(datetime.fromtimestamp(ctx.now()), week_of(ctx.vault))
        self._programs: dict[tuple[str, str, str], Program] = {}
        self._depth = 0

    def text(self) -> str:
        """The text that the template makes of its target."""
        return self.included(self._template, self.ctx.vault.read(self._template).text, self.target)

    def filled(self, template: FileValue, path: str) -> str:
        """The text that a template makes of another note, which is yet to be created."""
        target = Target(path, "", self._clock.now, self._clock.now)
        return self.included(template.path, self.ctx.vault.read(template.path).text, target)

    def included(self, path: str, text: str, target: Target) -> str:
        """The text that a template, or a part of one, makes."""
        self.ctx.check_cancelled()
        self._depth += 1
        try:
            if self._depth > DEEPEST + 1:
                raise BudgetExceeded(f"templates include each other more than {DEEPEST} deep")
            self._budget.pay(text)
            program = self._program(path, text, target)
            names: dict[str, Value] = {"tp": self._tp(target), "tR": ""}
            return to_text(program.run(names, self._budget, self._clock).look_up("tR"))
        except ScriptError as error:
            raise Stopped(error, path) from None
        finally:
            self._depth -= 1

    def _program(self, path: str, text: str, target: Target) -> Program:
        key = (path, text, target.title)
        if key not in self._programs:
            try:
                self._programs[key] = compile_program(program_tokens(self._pieces(path, text, target)))
            except ScriptError as error:
                raise Stopped(error, path, text) from None
        return self._programs[key]

    def _pieces(self, path: str, text: str, target: Target) -> list[Piece]:
        found = pieces(text)
        if not self._places.holds_core(path):
            return found
        return [
            piece._replace(source=expand(piece.source, target.title, self._clock.now, self._places))
            if piece.kind == "text"
            else piece
            for piece in found
        ]

    def _tp(self, target: Target) -> Host:
        files = Files(self, target)
        frontmatter = from_data(files.parsed.frontmatter or {})
        return Tp(
            {
                "date": Dates(),
                "file": files,
                "system": System(self.answers),
                "config": Config(self._template, target.path, self._mode),
                "frontmatter": frontmatter,
                **{name: Outside(f"tp.{name}") for name in OUTSIDE},
            }
        )


class Tp(Record):
    """The object `tp` itself."""

    def member(self, name: str) -> Value:
        known = super().member(name)
        return Outside(f"tp.{name}") if known is UNDEFINED else known
