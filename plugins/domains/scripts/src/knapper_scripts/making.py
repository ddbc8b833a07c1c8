"""From trusted bytes to a tool: executed once, under the same rules as the tools of plugins."""

from __future__ import annotations

import inspect
import sys
import threading
from types import CodeType, ModuleType
from typing import Any

from knapper import PluginError, Tool
from knapper.domain import NAME
from knapper.lint import tool_problems
from knapper_scripts.domain import scripts
from knapper_scripts.files import Source

LOAD_SECONDS = 5.0


class Broken(Exception):
    """Why a script cannot be a tool, in words."""


def make(source: Source, vault: str, name: str) -> Tool:
    """The tool that a script is, or Broken; whatever is wrong with it stays inside."""
    if not NAME.fullmatch(name):
        raise Broken(f"{name!r} is no name of a tool: use lower-case letters, digits and underscores")
    module = ModuleType(module_name(vault, name, source.hash), "")
    module.__file__ = source.path
    try:
        code = compile(source.data, f"{vault}:{source.path}", "exec", dont_inherit=True)
        sys.modules[module.__name__] = module  # annotations of records are looked up there
        _execute(code, module)
        return _checked(_declared(vars(module), vault, name))
    except BaseException as error:
        sys.modules.pop(module.__name__, None)
        if isinstance(error, Broken):
            raise
        raise Broken(" ".join(f"{type(error).__name__}: {error}".split())) from error


def module_name(vault: str, name: str, hash: str) -> str:
    """The name of the module that a script is, as long as it is loaded."""
    return f"knapper_scripts_of.{vault}.{name}.{hash[:16]}"


def _execute(code: CodeType, module: ModuleType) -> None:
    """Run a script's statements in a thread of their own, so that one that never ends does not hold up the others."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            exec(code, vars(module))  # noqa: S102 (bytes that a person has trusted)
        except BaseException as error:  # noqa: BLE001 (a script that exits must not take the server along)
            errors.append(error)

    thread = threading.Thread(target=run, name="script", daemon=True)
    thread.start()
    thread.join(LOAD_SECONDS)
    if thread.is_alive():
        raise Broken(f"it was not loaded after {LOAD_SECONDS:g} seconds")
    if errors:
        raise errors[0]


def _declared(names: dict[str, Any], vault: str, name: str) -> Tool:
    fn, scopes = names.get("tool"), names.get("SCOPES")
    if not inspect.isfunction(fn) or inspect.iscoroutinefunction(fn):
        raise Broken("tool is not a plain function")
    if next(iter(inspect.signature(fn).parameters), None) != "ctx":
        raise Broken("the first parameter of tool is not ctx")
    if not isinstance(scopes, (tuple, list)) or not scopes or not all(isinstance(s, str) for s in scopes):
        raise Broken("SCOPES does not say what a caller needs, such as ('read:notes',)")
    fn.__doc__ = fn.__doc__ or names.get("__doc__")
    return Tool(
        fn,
        scripts,
        tuple(scopes),
        destructive=bool(names.get("DESTRUCTIVE", False)),
        confirm=str(names.get("CONFIRM", "")),
        reach=str(names.get("REACH", "")),
        vault=False,
        name=name,
        home=vault,
    )


def _checked(tool: Tool) -> Tool:
    """The tool, if clients can be shown it: the rules are those for every tool."""
    try:
        scripts.check(tool)
    except PluginError as error:
        raise Broken(str(error)) from None
    problems = [*tool_problems(tool)]
    if problems:
        raise Broken("; ".join(problems))
    _ = (
        tool.output_schema,
        tool.wraps,
    )  # made here, so that what cannot be shown is the script's fault and not a client's
    return tool
