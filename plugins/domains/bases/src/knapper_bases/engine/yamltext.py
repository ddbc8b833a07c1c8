"""YAML as .base files use it: read by the core schema of YAML 1.2 with every place known, written in Obsidian's style."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from knapper_bases.engine.errors import BasesSyntaxError, Issue

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MOST_NODES = 50_000
LONGEST_TEXT = 2_000_000

_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def compose(text: str) -> yaml.Node | None:
    """Read a text into YAML nodes, which know their places in it."""
    if len(text) > LONGEST_TEXT:
        raise BasesSyntaxError([Issue("", f"the file is longer than {LONGEST_TEXT} characters")])
    try:
        return yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as wrong:
        raise BasesSyntaxError([Issue(*_described(wrong))]) from None
    except RecursionError:
        raise BasesSyntaxError([Issue("", "the YAML is nested too deeply")]) from None


def data_of(node: yaml.Node | None) -> Any:
    """Give the plain data of a node."""
    return _Reader().value(node, "") if node is not None else None


def dump(value: Any) -> str:
    """Write data as block YAML, lists indented below their keys."""
    return str(
        yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**9, indent=2)
    ).removesuffix("...\n")


def scalar(text: str) -> object:
    """Give what an unquoted YAML 1.2 scalar means."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text, base) if len(text) < 400 else float(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


class _Reader:
    """Turns nodes into data, counting them, since aliases can make a short text endless."""

    def __init__(self) -> None:
        self.left = MOST_NODES

    def value(self, node: yaml.Node, place: str) -> Any:
        self.left -= 1
        if self.left < 0:
            raise BasesSyntaxError([Issue(place, f"the file has more than {MOST_NODES} values")])
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, place)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, f"{place}[{count}]") for count, item in enumerate(node.value)]
        return self.mapping(node, place)

    def scalar(self, node: yaml.ScalarNode, place: str) -> Any:
        if node.tag.startswith("!"):
            raise BasesSyntaxError(
                [Issue(place, f"{node.tag!r} is a YAML tag; put an expression with ! in quotes")]
            )
        return node.value if node.style else scalar(node.value)

    def mapping(self, node: yaml.Node, place: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise BasesSyntaxError([Issue(place, "a key must be a text")])
            inner = f"{place}.{key.value}" if place else key.value
            if key.value in found:
                raise BasesSyntaxError([Issue(inner, "the key stands here twice")])
            found[key.value] = self.value(value, inner)
        return found


def _described(wrong: yaml.YAMLError) -> tuple[str, str]:
    mark = getattr(wrong, "problem_mark", None)
    problem = getattr(wrong, "problem", None) or getattr(wrong, "context", None) or str(wrong)
    return (f"line {mark.line + 1}, column {mark.column + 1}" if mark else "", str(problem))


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def check_simple_key(self) -> bool:
        # Even a long or multi-line key stands on one line, in quotes, so that it can be found again.
        return isinstance(self.event, yaml.ScalarEvent) or super().check_simple_key()

    def ignore_aliases(self, data: object) -> bool:
        return True


def _quoted_where_needed(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, _style(dumper, value))


def _style(dumper: yaml.SafeDumper, value: str) -> str | None:
    if "\n" in value:
        return '"'
    if dumper.analyze_scalar(value).allow_block_plain and isinstance(scalar(value), str):
        return None
    # Obsidian prefers double quotes, and takes single ones around an expression that contains double ones.
    return "'" if '"' in value or "\\" in value else '"'


def _in_given_order(dumper: yaml.SafeDumper, value: Mapping[str, Any]) -> yaml.MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=not value)


_Dumper.add_representer(str, _quoted_where_needed)
_Dumper.add_representer(dict, _in_given_order)
