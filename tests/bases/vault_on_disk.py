"""A folder of files as a vault, read simply, for running real bases over real notes."""

import re
from pathlib import Path
from typing import Any

import yaml

from knapper_bases.engine import LinkRef
from tests.bases.vault_in_memory import MemoryVault, Note

_FRONTMATTER = re.compile(r"---\n(.*?\n)?---\n", re.DOTALL)
_LINK = re.compile(r"(!?)\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
_TAG = re.compile(r"(?:^|\s)#([\w/-]*[^\W\d][\w/-]*)")


def vault_on_disk(root: Path) -> MemoryVault:
    """Read a folder into a vault in memory, links resolved."""
    files = [
        file for file in sorted(root.rglob("*")) if file.is_file() and not _hidden(file.relative_to(root))
    ]
    vault = MemoryVault(*(Note(file.relative_to(root).as_posix()) for file in files))
    for file in files:
        _fill(vault, vault.notes[file.relative_to(root).as_posix()], file)
    for note in vault.notes.values():
        for path in dict.fromkeys(link.resolved for link in note.links if link.resolved):
            vault.notes[path].backlinks.append(note.path)
    return vault


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _fill(vault: MemoryVault, note: Note, file: Path) -> None:
    stat = file.stat()
    note.size, note.ctime, note.mtime = stat.st_size, stat.st_ctime, stat.st_mtime
    if file.suffix != ".md":
        return
    text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
    found = _FRONTMATTER.match(text)
    note.properties = _properties(found[1] or "") if found else {}
    tags = note.properties.get("tags")
    note.tags = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    note.tags += [tag for tag in _TAG.findall(text[found.end() :] if found else text) if tag not in note.tags]
    for embed, target, display in _LINK.findall(text):
        path = vault.resolve(target.partition("#")[0], note.path)
        (note.embeds if embed else note.links).append(LinkRef(target, display or target, path))
    note.links += note.embeds


def _properties(text: str) -> dict[str, Any]:
    try:
        found = _data(yaml.compose(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _data(node: Any) -> Any:
    """Give a YAML node's data; dates stay the text they are written as."""
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _data(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_data(item) for item in node.value]
    return node and (_typed(node.value) if node.style is None else node.value)


def _typed(value: str) -> Any:
    if re.fullmatch(r"-?\d+(\.\d+)?", value):
        return float(value) if "." in value else int(value)
    return {"": None, "true": True, "false": False}.get(value, value)
