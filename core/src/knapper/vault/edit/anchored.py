"""Edits aimed at a part of a note; every byte outside that part stays."""

from knapper.vault import frontmatter
from knapper.vault.edit.blocks import edit_block
from knapper.vault.edit.errors import AnchorNotFound, ContentSpills, EditError
from knapper.vault.edit.model import Anchor, Edited, Operation, dropped_lines
from knapper.vault.edit.sections import edit_section
from knapper.vault.edit.spacing import Content, put_lines
from knapper.vault.frontmatter.nodes import compose, value
from knapper.vault.frontmatter.scalars import key_text
from knapper.vault.lines import line_end, line_ending, next_line
from knapper.vault.markdown import Parsed


def edit_anchor(text: str, parsed: Parsed, anchor: Anchor, operation: Operation, content: str) -> Edited:
    """Replace, append to or prepend to a heading's section, a block, a line or the frontmatter."""
    if anchor.type == "heading":
        return edit_section(text, parsed, anchor.heading, operation, content)
    if anchor.type == "block":
        return edit_block(text, parsed, anchor.block_id, operation, content)
    if anchor.type == "line":
        return _edit_line(text, parsed, anchor.line, operation, content)
    return _edit_frontmatter(text, operation, content)


def _edit_line(text: str, parsed: Parsed, line: int, operation: Operation, content: str) -> Edited:
    count = len(parsed.line_starts) - (text.endswith("\n"))
    if not 1 <= line <= count:
        raise AnchorNotFound(f"the note has lines 1 to {count}")
    start = parsed.line_starts[line - 1]
    new = Content(content, line_ending(text))
    name = f"line {line}"
    if operation == "replace":
        end = line_end(text, start)
        body = new.text.removesuffix(new.eol)
        return Edited(text[:start] + body + text[end:], name, dropped_lines(text[start:end], body))
    at = start if operation == "prepend" else next_line(text, start)
    return Edited(put_lines(text, at, at, new), name)


def _edit_frontmatter(text: str, operation: Operation, content: str) -> Edited:
    eol = line_ending(text)
    lines = Content(content, eol).ended
    given = frontmatter.find(lines)
    if given is not None:
        lines = lines[given.start : given.end]
    block = frontmatter.find(text)
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    start, end = (block.start, block.end) if block else (len(bom), len(bom))
    old = text[start:end]
    inner = {"replace": lines, "append": old + lines, "prepend": lines + old}[operation]
    _check(inner)
    if block is None:
        changed = f"{bom}---{eol}{inner}---{eol}{text[start:]}" if inner.strip() else text
    elif inner.strip():
        changed = text[:start] + inner + text[end:]
    else:
        changed = bom + text[block.after :]
    found = frontmatter.find(changed)
    if inner.strip() and (found is None or changed[found.start : found.end] != inner):
        raise ContentSpills("the frontmatter would end in the middle of the content")
    return Edited(changed, "frontmatter", dropped_lines(old, inner))


def _check(inner: str) -> None:
    """Refuse what the app could not read, and a name given twice."""
    frontmatter.load(inner)
    root = compose(inner)
    names = [key_text(value(key)) for key in root.keys] if root else []
    if len(names) != len(set(names)):
        raise EditError(
            "the frontmatter would hold a property twice", sorted({n for n in names if names.count(n) > 1})
        )
