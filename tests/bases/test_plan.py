"""What an index may rely on: the facts that a filter implies, never excluding a match."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper_bases.engine import (
    And,
    Base,
    FilterTree,
    HasExtension,
    HasTag,
    InFolder,
    LinkRef,
    LinksTo,
    Narrowing,
    Not,
    Or,
    PropertyEquals,
    plan,
    query,
)
from knapper_bases.engine.plan import Fact
from tests.bases.vault_in_memory import MemoryVault, Note


@pytest.mark.parametrize(
    ("tree", "facts"),
    [
        ('status == "active"', [PropertyEquals("status", "active")]),
        ('"active" == note["Sta tus"]', [PropertyEquals("Sta tus", "active")]),
        ("note.price == 5", [PropertyEquals("price", 5)]),
        ("done == true", [PropertyEquals("done", True)]),
        ('file.ext == "md"', [HasExtension("md")]),
        ('file.hasTag("#a", "b/c")', [HasTag(("a", "b/c"))]),
        ('file.inFolder("A/B/")', [InFolder("A/B")]),
        ("file.hasLink(this)", [LinksTo("Me.md")]),
        ("file.file.hasLink(this.file)", [LinksTo("Me.md")]),
        ('a == "x" && (file.ext == "md" && b == 1)', [
            PropertyEquals("a", "x"), HasExtension("md"), PropertyEquals("b", 1)
        ]),
        (And(('a == "x"', And(('b == "y"', 'a == "x"')))), [PropertyEquals("a", "x"), PropertyEquals("b", "y")]),
        (Or(('a == "x"',)), [PropertyEquals("a", "x")]),
        (Or(('file.hasTag("a")', And(('b == 1', 'file.hasTag("c", "a")')))), [HasTag(("a", "c"))]),
        ('file.hasTag("a") || file.hasTag("b")', [HasTag(("a", "b"))]),
    ],
)  # fmt: skip
def test_facts_are_found_in_conjunctions(tree: FilterTree, facts: list[Fact]) -> None:
    assert list(plan(tree, "Me.md").facts) == facts


@pytest.mark.parametrize(
    "tree",
    [
        None,
        Or(('a == "x"', 'a == "y"')),
        Or(('file.hasTag("a")', "b == 1")),
        Or(()),
        Not(('a == "x"',)),
        'a == "x" || b == 1',
        '!(a == "x")',
        'a != "x"',
        'a == "2024-01-01"',
        'a == "[[Note]]"',
        'tags == "x"',
        "a == null",
        "a == b",
        'formula.a == "x"',
        'this.a == "x"',
        "file.hasTag(a)",
        'file.inFolder("")',
        'file.hasLink("Note")',
        'file.name == "x"',
        'link("x").hasTag("a")',
        "a == ",
    ],
)
def test_nothing_is_claimed_where_another_file_could_match(tree: FilterTree | None) -> None:
    assert plan(tree, "Me.md") == Narrowing()


class StrictIndex(MemoryVault):
    """A vault that gives only the files for which all facts hold, in the narrowest reading of each."""

    def files(self, narrowing: Narrowing) -> Iterable[Note]:
        return [
            note
            for note in super().files(narrowing)
            if all(self.holds(fact, note) for fact in narrowing.facts)
        ]

    def holds(self, fact: Fact, note: Note) -> bool:
        match fact:
            case PropertyEquals(name, value):
                found = [raw for key, raw in note.properties.items() if key.lower() == name.lower()]
                return any(raw == value and isinstance(raw, bool) == isinstance(value, bool) for raw in found)
            case HasTag(tags):
                return any(
                    f"{have.lower()}/".startswith(f"{tag.lower()}/") for have in note.tags for tag in tags
                )
            case InFolder(folder):
                return note.path.startswith(f"{folder}/")
            case HasExtension(ext):
                return note.path.endswith(f".{ext}")
            case LinksTo(path):
                return any(link.resolved == path for link in note.links)


VALUES = st.sampled_from(
    ["x", "X", "2024-01-01", "[[Me]]", "", 1, 1.0, 0, True, False, None, ["x"], {"x": 1}]
)
NOTES = st.builds(
    Note,
    path=st.sampled_from(["A/n.md", "A/B/n.md", "AB/n.md", "n.md", "A/n.png"]),
    properties=st.dictionaries(st.sampled_from(["a", "A", "b", "tags"]), VALUES, max_size=3),
    tags=st.lists(st.sampled_from(["t", "T/u", "tu", "v"]), max_size=2),
    links=st.lists(st.sampled_from([LinkRef("Me", None, "Me.md"), LinkRef("no", None, None)]), max_size=2),
)
LITERALS = ['"x"', '"X"', '"2024-01-01"', '"[[Me]]"', "1", "0", "true", "false", "null", '""']
LEAVES = st.one_of(
    st.builds(
        "{} == {}".format, st.sampled_from(["a", "note.A", 'note["b"]', "tags"]), st.sampled_from(LITERALS)
    ),
    st.builds('file.hasTag("{}")'.format, st.sampled_from(["t", "#T", "t/u", "v"])),
    st.builds('file.inFolder("{}")'.format, st.sampled_from(["A", "A/", "A/B", ""])),
    st.sampled_from(['file.ext == "md"', "file.hasLink(this)", "a", "!b", "a > 0"]),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["&&", "||"]), inner),
    max_leaves=4,
)
TREES: st.SearchStrategy[FilterTree] = st.recursive(
    EXPRESSIONS,
    lambda inner: st.builds(
        lambda kind, parts: kind(tuple(parts)), st.sampled_from([And, Or, Not]), st.lists(inner, max_size=3)
    ),
    max_leaves=4,
)


@given(st.lists(NOTES, max_size=5, unique_by=lambda note: note.path), TREES)
def test_narrowing_never_loses_a_file(notes: list[Note], tree: FilterTree) -> None:
    def paths(vault: MemoryVault) -> list[str]:
        return [row.file.path for row in query(Base(filters=tree), vault, this="Me.md").rows]

    assert paths(StrictIndex(*notes, Note("Me.md"))) == paths(MemoryVault(*notes, Note("Me.md")))
