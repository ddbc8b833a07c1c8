#!/usr/bin/env python3
"""The one entry of a checkout; it needs python3 with venv and pip, and nothing else.

python3 dev.py serve [VAULT] [OPTION...]   serve a vault over HTTP on loopback (examples/vault where none is named)
python3 dev.py test [ARGUMENT...]          run the tests through tox; the arguments are pytest's
python3 dev.py lint [--fix]                ruff; --fix also brings the umbrella's list of distributions up to date
python3 dev.py types                       mypy, strict, over everything
python3 dev.py alone [NAME...]             test each distribution with nothing of this tree but the core beside it
python3 dev.py dist                        build every wheel and sdist into dist/, and check them
python3 dev.py docs                        write the generated pages and tables of docs/ anew
python3 dev.py new KIND NAME [SUMMARY]     start a domain, embedder, verifier, sink or bridge
python3 dev.py pin [OPTION...]             write constraints.txt anew; the options are those of uv pip compile
python3 dev.py run COMMAND [ARGUMENT...]   run a command of the environment
python3 dev.py setup                       make or mend .venv; the other commands do so by themselves
python3 dev.py weights                     fetch the optional model's weights, without which its tests are skipped
"""

import inspect
import os
import subprocess
import sys
from collections.abc import Callable

if sys.version_info < (3, 11):  # noqa: UP036 - an older Python should say this, not raise an ImportError
    sys.exit("knapper needs Python 3.11 or newer; this one is " + sys.version.split()[0])

from itertools import pairwise

from devtools import alone as alone_
from devtools import environment, pins, scaffold
from devtools.environment import executable, say
from devtools.members import ROOT, members


def setup() -> int:
    environment.ensure(ROOT)
    return 0


def weights() -> int:
    environment.add_weights(ROOT)
    return 0


def serve(*arguments: str) -> int:
    named = bool(arguments) and not arguments[0].startswith("-")
    vault, options = (arguments[0], arguments[1:]) if named else (ROOT / "examples" / "vault", arguments)
    vault = os.path.abspath(vault)  # noqa: PTH100 - the caller's folder counts, and links stay as they were named
    if not os.path.exists(vault):  # noqa: PTH110 - a vault's folder, or a configuration file
        say(f"There is no folder or file {vault}.")
        return 2
    environment.ensure(ROOT)
    url = _url(options)
    say(f"Starting a server of {vault}; stop it with Ctrl-C. When it listens, connect a client, for example:")
    say(f"  claude mcp add --transport http knapper {url}")
    say(f'  {{"mcpServers": {{"knapper": {{"type": "http", "url": "{url}"}}}}}}')
    return run("knapper", "serve", vault, "--http", *options)


def _url(options: tuple[str, ...]) -> str:
    """Where the server will listen, `--port 80` and `--port=80` alike."""
    given = dict(pairwise(word for option in options for word in option.split("=", 1)))
    return f"http://{given.get('--host', '127.0.0.1')}:{given.get('--port', '8765')}/mcp"


def test(*arguments: str) -> int:
    return run("tox", "run", "--quiet", "--conf", str(ROOT / "tox.ini"), "-e", "py", "--", *arguments)


def lint(*options: str) -> int:
    fix = list(options) == ["--fix"]
    if fix:
        scaffold.update_umbrella(ROOT)
    steps = [["ruff", "check", *options], ["ruff", "format", *([] if fix else ["--check"])]]
    return max([_wait(step) for step in steps])


def types() -> int:
    sources = [str(member.src.relative_to(ROOT)) for member in members(ROOT)]
    targets = [name for name in ("devtools", "tests", "benchmarks") if any((ROOT / name).rglob("*.py"))]
    return _wait(["mypy", *sources, "dev.py", *targets], MYPYPATH=os.pathsep.join(sources))


def alone(*names: str) -> int:
    return alone_.run(ROOT, list(names))


def dist() -> int:
    return run("python", "-m", "devtools.dist")


def docs() -> int:
    return run("python", "-m", "devtools.docs")


def new(kind: str, name: str, summary: str = "") -> int:
    scaffold.new(ROOT, kind, name, summary)
    return setup()


def pin(*options: str) -> int:
    return pins.write(ROOT, list(options))


def run(*command: str) -> int:
    """Become the command where the system can, so that signals and exit codes are its own."""
    line, variables = _prepared(list(command))
    if os.name != "nt":
        os.chdir(ROOT)
        os.execve(line[0], line, variables)
    return subprocess.run(line, cwd=ROOT, env=variables, check=False).returncode


def _wait(command: list[str], **variables: str) -> int:
    line, environ = _prepared(command)
    return subprocess.run(line, cwd=ROOT, env=environ | variables, check=False).returncode


def _prepared(command: list[str]) -> tuple[list[str], dict[str, str]]:
    if not command:
        raise SystemExit("run takes a command of the environment: python3 dev.py run knapper tools")
    env = environment.ensure(ROOT)
    program = executable(env, command[0])
    if not program.exists():
        raise SystemExit(f"{command[0]!r} is not a command of {env}")
    path = os.pathsep.join([str(program.parent), os.environ.get("PATH", "")])
    return [str(program), *command[1:]], os.environ | {"VIRTUAL_ENV": str(env), "PATH": path}


COMMANDS: dict[str, Callable[..., int]] = {
    command.__name__: command
    for command in (serve, test, lint, types, alone, dist, docs, new, pin, run, setup, weights)
}


def main(arguments: list[str]) -> int:
    command, rest = COMMANDS.get(arguments[0] if arguments else ""), arguments[1:]
    if command is None or not _fits(command, rest):
        say(__doc__)
        return 0 if arguments in (["-h"], ["--help"], ["help"]) else 2
    try:
        return command(*rest)
    except KeyboardInterrupt:
        return 130


def _fits(command: Callable[..., int], arguments: list[str]) -> bool:
    try:
        inspect.signature(command).bind(*arguments)
    except TypeError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
