"""Reading YAML into nodes, with a library's parser and bounds of our own."""

import re
from typing import Any

import yaml

from knapper.vault.frontmatter.errors import FrontmatterError
from knapper.vault.frontmatter.nodes import MAX_DEPTH, Node

MAX_NODES = 100_000

_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# libyaml breaks lines at U+0085, U+2028 and U+2029 and refuses control characters, as YAML 1.1 said;
# the app's library does neither. They pass through as private characters that the block does not use, one for one.
_ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
# A tab in a line of nothing else, or before a remark, which libyaml takes for wrong indentation and the app for a blank.
_TABBED = re.compile(r"^ *\t[ \t]*(?=#|\r?$)", re.MULTILINE)
_STR_TAGS = frozenset(("tag:yaml.org,2002:str", "!"))


def composed(block: str) -> Node | None:
    """The root node of a frontmatter block; None where it holds nothing."""
    try:
        return _read(block)
    except FrontmatterError:
        spaced = _TABBED.sub(lambda found: " " * len(found[0]), block)
        if spaced == block:
            raise
        return _read(spaced)


def _read(block: str) -> Node | None:
    masked, restore = _mask(block)
    try:
        return _Composer(_Parser(masked), restore).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FrontmatterError(_reason(error), mark.line + 1 if mark else None) from None
    except (yaml.YAMLError, UnicodeError):
        raise FrontmatterError("unreadable characters") from None


def _mask(block: str) -> tuple[str, dict[int, str]]:
    odd = sorted(set(_ODD.findall(block)))
    if not odd:
        return block, {}
    unused = (code for code in range(0x10FFFD, 0xF0000, -1) if chr(code) not in block)
    pairs = [(ord(char), next(unused)) for char in odd]
    return block.translate(dict(pairs)), {code: chr(char) for char, code in pairs}


def _reason(error: yaml.MarkedYAMLError) -> str:
    # libyaml's problem texts are fixed sentences; those of the pure parser may quote the note.
    return re.sub(r"\s*(?:'[^']*\w[^']*'|\"[^\"]*\w[^\"]*\")", "", error.problem or "not valid YAML")


class _Composer:
    def __init__(self, parser: Any, restore: dict[int, str]) -> None:
        self.next = parser.get_event
        self.restore = restore
        self.anchors: dict[str, Node] = {}
        self.open: list[Node] = []

    def document(self) -> Node | None:
        self.next()
        if isinstance(self.next(), yaml.StreamEndEvent):
            return None
        root = self.tree()
        self.next()
        end = self.next()
        if not isinstance(end, yaml.StreamEndEvent):
            raise FrontmatterError("more than one YAML document", end.start_mark.line + 1)
        return root

    def tree(self) -> Node:
        """Read one node and all below it, without recursion: depth is the note's to choose."""
        stack = self.open
        total = 0
        while True:
            event = self.next()
            line, end = event.start_mark.line + 1, event.end_mark.index
            if isinstance(event, yaml.CollectionEndEvent):
                node = stack.pop()
                node.end = end
                node.weight += sum(child.weight for child in (*node.keys, *node.items))
            else:
                node = self.node(event)
                total += 1
                if isinstance(event, yaml.CollectionStartEvent):
                    stack.append(node)
                    if len(stack) > MAX_DEPTH:
                        raise FrontmatterError("nested too deeply", line)
                    continue
            if node.weight + total > MAX_NODES:
                raise FrontmatterError("too many values or aliases", line)
            if not stack:
                return node
            self.attach(stack[-1], node)

    def attach(self, parent: Node, node: Node) -> None:
        if parent.kind == "mapping" and len(parent.keys) == len(parent.items):
            parent.keys.append(node)
        else:
            parent.items.append(node)

    def node(self, event: Any) -> Node:
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, start, end)
        if isinstance(event, yaml.ScalarEvent):
            text = event.value.translate(self.restore) if self.restore else event.value
            node = Node("scalar", start, end, event.style or "", text, event.tag, event.anchor)
            if node.style == "" and event.tag in _STR_TAGS:
                node.tag = "tag:yaml.org,2002:str"
        else:
            kind = "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
            style = "flow" if event.flow_style else "block"
            node = Node(kind, start, end, style, "", event.tag, event.anchor)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def alias(self, event: Any, start: int, end: int) -> Node:
        target = self.anchors.get(event.anchor)
        line = event.start_mark.line + 1
        if target is None:
            raise FrontmatterError("an alias names no anchor", line)
        if target in self.open:
            raise FrontmatterError("an alias holds itself", line)
        return Node("alias", start, end, target=target, weight=target.weight)
