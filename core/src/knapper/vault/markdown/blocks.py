"""The block structure of a note: quotes, lists and footnotes, nested as Obsidian nests them."""

from knapper.vault.markdown import grammar, lists
from knapper.vault.markdown.leaves import Leaves, Node
from knapper.vault.markdown.model import Footnote, ListItem

# Deeper containers are read as text: each level goes over its lines again, and no note nests like this.
MAX_DEPTH = 48


class Blocks(Leaves):
    """The block parser of one note, which adds what it finds to a Parsed."""

    def read(self, first: int, last: int, depth: int = 0, parent: int | None = None) -> list[Node]:
        """The blocks between two lines; `parent` is the line of the list item they are in."""
        nodes: list[Node] = []
        lines = self.lines
        at = first
        while at < last:
            line = lines[at]
            body = line.lstrip(" \t")
            if not body:
                at += 1
            elif line[0] == "\t" or line.startswith("    "):
                at = self.indented(at, last, nodes)
            elif depth > MAX_DEPTH:
                at = self.paragraph(at, last, last, nodes)
            else:
                at = (
                    self._container(at, last, body, depth, parent, nodes)
                    or self.leaf(at, last, body, depth, nodes)
                    or self.paragraph(at, at + 1, last, nodes)
                )
        return nodes

    def _container(
        self, at: int, last: int, body: str, depth: int, parent: int | None, nodes: list[Node]
    ) -> int | None:
        char = body[0]
        if char == ">":
            return self._quote(at, last, depth, nodes)
        if char in "*-_" and grammar.RULE.match(body):
            nodes.append(Node("thematicBreak", self.start(at), self.ends[at]))
            return at + 1
        if char in "*+-0123456789" and lists.LIST_START.match(body):
            return self._list(at, last, depth, parent, nodes)
        if char == "[" and not depth:
            return self._definition(at, last, body, nodes)
        return None

    def _quote(self, at: int, last: int, depth: int, nodes: list[Node]) -> int:
        lines = self.lines
        start = self.start(at)
        end = at
        while end < last:
            body = lines[end].lstrip(" \t")
            if body[:1] == ">":
                lines[end] = body[2:] if body[1:2] == " " else body[1:]
            elif not body or self._ends_quote(end, last, body):
                break
            end += 1
        kind = "callout" if grammar.CALLOUT.match(lines[at].lstrip(" \t")) else "blockquote"
        stop = self.ends[end - 1]
        children = self.read(at, end, depth + 1)
        nodes.append(Node(kind, start, stop, children[-1].id if children else None))
        return end

    def _ends_quote(self, at: int, last: int, body: str) -> bool:
        line = self.lines[at]
        if line[0] == "\t" or line.startswith("    "):
            return True
        if at + 1 < last and grammar.setext_level(self.lines[at + 1]):
            return True
        return self.begins(grammar.ENDS_QUOTE, at, last, body)

    def _list(self, at: int, last: int, depth: int, parent: int | None, nodes: list[Node]) -> int:
        def ends(line: int) -> bool:
            return self.begins(grammar.ENDS_LIST, line, last, self.lines[line].lstrip(" \t"))

        items = lists.split_items(self.lines, at, last, ends)
        end = items[-1].last
        nodes.append(Node("list", self.start(at), self.ends[end - 1]))
        root = -max(at, 1) if parent is None else parent
        for item in items:
            self._item(item, root, depth)
        return end

    def _item(self, item: lists.Item, parent: int, depth: int) -> None:
        at = item.first
        start = self.start(at)
        end = self.start(item.last) if item.tail else self.ends[item.last - 1]
        task = lists.open_item(self.lines, item)
        text = self.lines[at].rstrip()
        col = start - self.found.line_starts[at]
        entry = ListItem(start, end, at, col, parent, task, None, text)
        self.found.list_items.append(entry)
        children = self.read(at, item.last + item.tail, depth + 1, at)
        before = next((index for index, node in enumerate(children) if node.type == "list"), None)
        if before:
            entry.end = children[before - 1].end
        entry.id = next((node.id for node in reversed(children[:before]) if node.id), None)
        if entry.id:
            self.found.add_block(entry.id, start, entry.end)

    def _definition(self, at: int, last: int, body: str, nodes: list[Node]) -> int | None:
        footnote = grammar.FOOTNOTE.match(body)
        if footnote:
            return self._footnote(at, last, footnote[1], body[footnote.end() :], nodes)
        if not grammar.DEFINITION.match(body):
            return None
        nodes.append(Node("definition", self.start(at), self.ends[at]))
        return at + 1

    def _footnote(self, at: int, last: int, id: str, body: str, nodes: list[Node]) -> int:
        lines = self.lines
        end = at + 1
        for after in range(at + 1, last):
            line = lines[after]
            if not line or line.isspace():
                continue
            if line[0] not in " \t" and (end < after or self.ends_paragraph(after, last)):
                break
            end = after + 1
        start, stop = self.start(at), self.ends[end - 1]
        self.found.footnotes.append(Footnote(id, start, stop))
        lines[at] = body
        for after in range(at + 1, end):
            lines[after] = lists.outdented(lines[after], 4)
        self.read(at, end, 1)
        nodes.append(Node("footnoteDefinition", start, stop))
        return end
