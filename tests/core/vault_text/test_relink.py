import json
import re
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knapper.vault import frontmatter
from knapper.vault.markdown import Link, parse
from knapper.vault.relink import Moves, Relinked, Retarget, relink, relink_canvas, retarget, retarget_canvas
from knapper.vault.resolve import LinkFormat, Resolver, relative

FILES = ["a/Old.md", "b/Other.md", "img/pic one.png", "c/Note.md", "x.md"]


def moving(paths: dict[str, str], files: list[str] = FILES, format: LinkFormat = "shortest") -> Moves:
    return Moves(paths, Resolver(files), Resolver(paths.get(file, file) for file in files), format)


def moved(text: str, paths: dict[str, str], source: str = "x.md", files: list[str] = FILES) -> str:
    result = relink(text, parse(text).links, source, moving(paths, files))
    assert result.broken == []
    return result.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[[Old]]", "[[New name]]"),
        ("![[Old]]", "![[New name]]"),
        ("[[Old#Heading|shown]]", "[[New name#Heading|shown]]"),
        ("[[Old#^block]]", "[[New name#^block]]"),
        ("[[ Old | shown ]]", "[[ New name | shown ]]"),
        ("[[Old.md]]", "[[New name.md]]"),
        ("[[a/Old]]", "[[New name]]"),
        ("[[/a/Old]]", "[[/z/New name]]"),
        ("[[./a/Old]]", "[[./z/New name]]"),
        ("[shown](Old.md)", "[shown](New%20name.md)"),
        ("[shown](Old)", "[shown](New%20name)"),
        ("[shown](<Old.md>)", "[shown](<New name.md>)"),
        ('[shown](<./a/Old.md#x> "title")', '[shown](<./z/New name.md#x> "title")'),
        ("[shown](a/Old.md#Some%20heading)", "[shown](New%20name.md#Some%20heading)"),
        ("[![](Old.md)](Old.md 'a](b)')", "[![](New%20name.md)](New%20name.md 'a](b)')"),
        ("| a |\n|---|\n| [[Old\\|shown]] |", "| a |\n|---|\n| [[New name\\|shown]] |"),
        ("# Heading [[Old]]", "# Heading [[New name]]"),
        ("%% [[Old]] %%", "%% [[New name]] %%"),
        ("`[[Old]]`", "`[[Old]]`"),
        ("```\n[[Old]]\n```", "```\n[[Old]]\n```"),
        ("<!-- [[Old]] -->", "<!-- [[Old]] -->"),
        ("[[Older]] [[Other]] [[#Old]]", "[[Older]] [[Other]] [[#Old]]"),
        ("[x](https://example.org/Old.md)", "[x](https://example.org/Old.md)"),
        ("[[Old]]\r\n[[Old]]\n\t[[Old]]  ", "[[New name]]\r\n[[New name]]\n\t[[New name]]  "),
    ],
)
def test_a_link_follows_its_file_and_keeps_its_manner(old: str, new: str) -> None:
    assert moved(f"before {old} after\n" if "\n" not in old else old, {"a/Old.md": "z/New name.md"}) == (
        f"before {new} after\n" if "\n" not in old else new
    )


def test_links_in_frontmatter_follow_in_their_quotes() -> None:
    text = "---\none: '[[Old|x]]' # [[Old]]\nlist: [\"[[Old]]\", Old]\ntext: about [[Old]]\n---\n[[Old]]\n"
    assert moved(text, {"a/Old.md": 'z/It\'s "new".md'}) == (
        "---\none: '[[It''s \"new\"|x]]' # [[Old]]\n"
        'list: ["[[It\'s \\"new\\"]]", Old]\n'
        'text: about [[Old]]\n---\n[[It\'s "new"]]\n'
    )


def test_a_link_that_still_leads_to_its_file_is_left_alone() -> None:
    text = "[[Old]] [x](Old.md) ![[pic one.png]]"
    assert moved(text, {"a/Old.md": "z/y/Old.md", "img/pic one.png": "pic one.png"}) == text


def test_the_links_of_a_moved_note_lead_where_they_led() -> None:
    text = "[o](../b/Other.md) [[../x]] [p](../img/pic%20one.png) [[Other]]"
    assert moved(text, {"c/Note.md": "c/deep/Note.md"}, source="c/Note.md") == (
        "[o](../../b/Other.md) [[../../x]] [p](../../img/pic%20one.png) [[Other]]"
    )


def test_a_path_seen_from_the_notes_folder_stays_so() -> None:
    files = ["f/sub/T.md", "f/n.md", "T.md"]
    assert moved("[t](sub/T.md)", {"f/sub/T.md": "f/new/U.md"}, "f/n.md", files) == "[t](new/U.md)"
    assert moved("[[sub/T]]", {"f/sub/T.md": "f/new/T.md"}, "f/n.md", files) == "[[new/T]]"


def test_files_that_trade_places_keep_their_links() -> None:
    files = ["A.md", "B.md", "C.md"]
    swap = {"A.md": "B.md", "B.md": "A.md"}
    assert moved("[[A]] [[B]] [[C]]", swap, "C.md", files) == "[[B]] [[A]] [[C]]"
    chain = {"A.md": "B.md", "B.md": "C.md", "C.md": "D.md"}
    assert moved("[[A]] [[B]] [[C]]", chain, "x.md", files) == "[[B]] [[C]] [[D]]"


def test_a_link_that_a_moved_file_would_take_over_is_spelled_out() -> None:
    files = ["a/b/Note.md", "x/y/Else.md"]
    assert moved("[[Note]]", {"x/y/Else.md": "Note.md"}, "n.md", files) == "[[a/b/Note]]"


@pytest.mark.parametrize(
    ("format", "text"), [("shortest", "[[N]]"), ("absolute", "[[z/N]]"), ("relative", "[[../z/N]]")]
)
def test_the_vaults_link_format_is_used(format: LinkFormat, text: str) -> None:
    moves = moving({"a/Old.md": "z/N.md"}, format=format)
    assert relink("[[Old]]", parse("[[Old]]").links, "c/Note.md", moves).text == text


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("a (b).md", "[x](a%20(b).md)"),
        ("a (b.md", "[x](a%20%28b.md)"),
        ("100% é.md", "[x](100%25%20é.md)"),
        ("R&D, x?.md", "[x](R&D,%20x?.md)"),
        ("AT&copy.md", "[x](AT&amp;copy.md)"),
        ("a:b.md", "[x](/a:b.md)"),
        ("a|b.md", "[x](a%7Cb.md)"),
        ("a\\b.md", "[x](a%5Cb.md)"),
    ],
)
def test_an_awkward_name_is_encoded_so_that_it_is_found(name: str, link: str) -> None:
    assert moved("[x](Old.md)", {"a/Old.md": name}) == link


def test_what_was_encoded_stays_encoded() -> None:
    files = ["é(1).md"]
    assert moved("[x](%C3%A9%281%29.md)", {"é(1).md": "ü(2).md"}, "n.md", files) == "[x](%C3%BC%282%29.md)"


def test_a_name_no_link_can_carry_is_reported_and_left() -> None:
    text = "[[Old]] [x](Old.md)"
    result = relink(text, parse(text).links, "x.md", moving({"a/Old.md": "C#.md"}))
    assert result == Relinked(text, 0, parse(text).links)


def test_the_keys_of_the_links_to_look_at_are_known() -> None:
    assert moving({"a/Old.md": "z/New name.md", "img/pic one.png": "p.png"}).keys() == {
        "old",
        "new name",
        "pic one.png",
        "p.png",
    }


CANVAS = (
    '{\n\t"nodes":[\n\t\t{"id":"1","type":"file","file":"a/Old.md","subpath":"#x","x":1.0},\n'
    '\t\t{"file":"a\\/Old.md","id":"2","type":"file"},\n'
    '\t\t{"id":"3","type":"text","text":"\\"[[Old]]\\"\\n\\u00e9 \\ud83d\\ude00 [[Old|a/Old.md]]", "extra": {"file":"a/Old.md"}},\n'
    '\t\t{"id":"4","type":"group","label":"a/Old.md","background":"img/pic one.png"},\n'
    '\t\t{"id":"5","type":"link","url":"a/Old.md","text":"[[Old]]"}\n\t],\n'
    '\t"edges":[{"id":"e","label":"[[Old]]","file":"a/Old.md"}]\n}\n'
)


def test_a_canvas_follows_in_its_files_backgrounds_and_cards_alone() -> None:
    result = relink_canvas(CANVAS, "c.canvas", moving({"a/Old.md": "z/Néw.md", "img/pic one.png": "p.png"}))
    assert result == Relinked(
        '{\n\t"nodes":[\n\t\t{"id":"1","type":"file","file":"z/Néw.md","subpath":"#x","x":1.0},\n'
        '\t\t{"file":"z/Néw.md","id":"2","type":"file"},\n'
        '\t\t{"id":"3","type":"text","text":"\\"[[N\\u00e9w]]\\"\\n\\u00e9 \\ud83d\\ude00 [[N\\u00e9w|a/Old.md]]", "extra": {"file":"a/Old.md"}},\n'
        '\t\t{"id":"4","type":"group","label":"a/Old.md","background":"p.png"},\n'
        '\t\t{"id":"5","type":"link","url":"a/Old.md","text":"[[Old]]"}\n\t],\n'
        '\t"edges":[{"id":"e","label":"[[Old]]","file":"a/Old.md"}]\n}\n',
        5,
    )


@pytest.mark.parametrize("text", ["", "\n", "[]", "{}", '{"nodes": null}', '{"nodes": [1, "file"]}'])
def test_an_empty_canvas_has_nothing_to_follow(text: str) -> None:
    assert relink_canvas(text, "c.canvas", moving({"a/Old.md": "z/New.md"})) == Relinked(text)


@pytest.mark.parametrize("text", ["{", "nodes", '{"a":' * 100_000])
def test_what_is_no_canvas_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        relink_canvas(text, "c.canvas", moving({"a/Old.md": "z/New.md"}))


def retargeted(text: str, old: str, new: str, source: str = "x.md", files: list[str] = FILES) -> str:
    result = retarget(text, parse(text).links, source, Retarget(old, new, Resolver(files)))
    assert result.broken == []
    return result.text


def test_targets_are_rewritten_by_name() -> None:
    text = '---\na: "[[old]]"\n---\n[[Old#h|x]] [m](<Old.md>) [[OLD.md]] [[a/Old]] `[[Old]]` [[Older]]\n'
    assert retarget(text, parse(text).links, "x.md", Retarget("Old", "Brand new")) == Relinked(
        '---\na: "[[Brand new]]"\n---\n[[Brand new#h|x]] [m](<Brand new.md>) [[Brand new.md]] [[a/Old]] `[[Old]]` [[Older]]\n',
        4,
    )


def test_a_rewritten_target_may_bring_a_heading_and_another_kind_of_file() -> None:
    text = "[[Old#h|x]] [m](Old.md#h)"
    assert retargeted(text, "old", "New#A b", files=[]) == "[[New#A b|x]] [m](New.md#A%20b)"
    assert retargeted(text, "old", "p.png", files=[]) == "[[p.png#h|x]] [m](p.png#h)"


def test_only_links_to_the_heading_of_a_target_with_one_are_rewritten() -> None:
    text = "[[Old#H|x]] [[Old]] [[Old#other]] [m](a/Old.md#h)"
    assert retargeted(text, "Old#h", "Other#new") == "[[Other#new|x]] [[Old]] [[Old#other]] [m](Other.md#new)"
    assert retargeted(text, "Old#h", "Other") == "[[Other|x]] [[Old]] [[Old#other]] [m](Other.md)"


@pytest.mark.parametrize("old", ["Old", "a/Old", "a/Old.md", "old.md"])
def test_links_that_lead_to_the_target_s_file_are_rewritten_in_their_own_manner(old: str) -> None:
    text = "[[Old]] [[a/Old|x]] [[/a/Old]] [m](../a/Old.md) [n](<a/Old.md#h>) ![[Old.md]] [[Other]]"
    expected = (
        "[[Other]] [[Other|x]] [[/b/Other]] [m](../b/Other.md) [n](<Other.md#h>) ![[Other.md]] [[Other]]"
    )
    assert retargeted(text, old, "Other", source="c/Note.md") == expected


def test_a_target_given_as_a_path_is_written_as_given_where_it_leads_there() -> None:
    assert retargeted("[[Old]] [m](Old.md)", "Old", "b/Other.md") == "[[b/Other]] [m](b/Other.md)"
    files = ["Old.md", "c/T.md", "T.md", "c/x.md"]
    assert retargeted("[[Old]]", "Old", "T", source="c/x.md", files=files) == "[[T]]"
    assert retargeted("[[Old]]", "Old", "c/T", source="x.md", files=files) == "[[c/T]]"


def test_a_path_does_not_mean_its_namesakes_and_a_name_does() -> None:
    files = ["p/N.md", "s/N.md", "s/x.md", "Other.md"]
    text = "[[N]] [[p/N]]"
    assert retargeted(text, "p/N.md", "Other", source="s/x.md", files=files) == "[[N]] [[Other]]"
    assert retargeted(text, "N", "Other", source="s/x.md", files=files) == "[[Other]] [[Other]]"


def test_a_link_that_cannot_name_the_new_target_is_broken() -> None:
    text = "[[Old]] [m](Old.md)"
    result = retarget(text, parse(text).links, "x.md", Retarget("Old", "a|b"))
    assert [link.original for link in result.broken] == ["[[Old]]"]


def test_a_canvas_is_rewritten_from_one_target_to_another() -> None:
    canvas = (
        '{"nodes":[{"type":"file","file":"a/Old.md","subpath":"#h"},{"type":"text","text":"[[Old]] \\u00e9"},'
        '{"type":"file","file":"Old.md"},{"type":"text","text":"a/Old.md"}]}'
    )
    plan = Retarget("Old", "Other", Resolver(FILES))
    expected = canvas.replace('"file":"a/Old.md"', '"file":"b/Other.md"').replace("[[Old]]", "[[Other]]")
    assert retarget_canvas(canvas, "k.canvas", plan) == Relinked(
        expected.replace('"file":"Old.md"', '"file":"b/Other.md"'), 3
    )
    new = retarget_canvas(
        '{"nodes":[{"type":"file","file":"a/Old.md"}]}', "k.canvas", Retarget("a/Old", "q/New")
    )
    assert new.text == '{"nodes":[{"type":"file","file":"q/New.md"}]}'


NAMES = st.sampled_from(
    [
        "n",
        "N",
        "m",
        "a b",
        "é",
        "e\u0301x",
        "p (1)",
        "q)",
        "100%",
        "R&D",
        "it's",
        'say "x"',
        "v1.2",
        "x;y",
        "[b]",
        "a+b",
        "%20",
        "&amp;",
        "~t",
        "=",
        "日本",
    ]
)
FOLDERS = st.lists(st.sampled_from(["a", "b", "c d", "é"]), max_size=2)
PATHS = st.builds(
    lambda folders, name, end: "/".join([*folders, name + end]),
    FOLDERS,
    NAMES,
    st.sampled_from([".md", ".md", ".png", ".md.md"]),
)


@st.composite
def link_texts(draw: st.DrawFn, target: str, source: str) -> str:
    bare = target.rpartition("/")[2]
    tail = "/".join(target.split("/")[-2:])
    path = draw(
        st.sampled_from(
            [
                target,
                bare,
                tail,
                "/" + target,
                relative(target, source),
                "./" + relative(target, source),
                bare.upper(),
            ]
        )
    )
    path = path.removesuffix(".md") if draw(st.booleans()) else path
    subpath = draw(st.sampled_from(["", "", "#Some heading", "#^b-1", "#"]))
    style = draw(
        st.sampled_from(
            ["wiki", "alias", "embed", "size", "table", "markdown", "encoded", "angle", "image", "yaml"]
        )
    )
    spaced = re.sub(
        r"[ ()\"]", lambda found: f"%{ord(found[0]):02X}", path.replace("%", "%25")
    ) + subpath.replace(" ", "%20")
    return {
        "wiki": f"[[{path}{subpath}]]",
        "alias": f"[[ {path}{subpath} | shown [x] ]]",
        "embed": f"![[{path}{subpath}]]",
        "size": f"![[{path}|300x20]]",
        "table": f"\n\n| h |\n|---|\n| [[{path}{subpath}\\|shown]] |\n\n",
        "markdown": f'[shown]({spaced} "title")',
        "encoded": f"[![i]({quote(path, safe='/;?:@&=+$,')})]({spaced})",
        "angle": f"[shown](<{path.replace('%', '%25')}{subpath}>)",
        "image": f"![alt|20]({spaced})",
        "yaml": f"[[{path}]]",
    }[style]  # fmt: skip


@st.composite
def vaults(draw: st.DrawFn) -> tuple[list[str], dict[str, str], str, str]:
    files = draw(st.lists(PATHS, min_size=2, max_size=7, unique=True))
    source = files[0] if files[0].endswith(".md") else files[0] + ".md"
    files = list(dict.fromkeys([source, *files]))
    some = draw(st.lists(st.sampled_from(files), unique=True, max_size=4))
    if draw(st.booleans()):
        moves = dict(zip(some, draw(st.permutations(some)), strict=True))
    else:
        fresh = draw(st.lists(PATHS, min_size=len(some), max_size=len(some), unique=True))
        moves = {old: new for old, new in zip(some, fresh, strict=True) if new not in files}
    links = draw(
        st.lists(st.sampled_from(files).flatmap(lambda target: link_texts(target, source)), max_size=8)
    )
    fillers = [
        "\n",
        " and ",
        "\r\n",
        "\n> ",
        "\n- ",
        " `[[n]]` ",
        "\n```\n[[n]] [x](n.md)\n```\n",
        "\n# ",
        " é😀 ",
    ]
    body = "".join(link + draw(st.sampled_from(fillers)) for link in links)
    values = [link for link in links if re.fullmatch(r"\[\[[^\n]*\]\]", link)]
    block = draw(st.sampled_from(["", "", "double", "single", "list"]))
    if block and values:
        texts = [
            json.dumps(v, ensure_ascii=False) if block != "single" else "'" + v.replace("'", "''") + "'"
            for v in values
        ]
        lines = (
            [f"  - {text} # [[n]]\n" for text in texts]
            if block == "list"
            else [f"  k{i}:  {text}\n" for i, text in enumerate(texts)]
        )
        body = "---\ntitle:  'x' # [[n]]\nkey:\n" + "".join(lines) + "---\n" + body
    return files, moves, source, body


def outside(text: str, links: list[Link]) -> list[str]:
    """The text between the links of the body; of a nested one the outer counts."""
    block = frontmatter.find(text)
    at = block.after if block else 0
    pieces = []
    for link in sorted((link for link in links if not link.in_frontmatter), key=lambda link: link.start):
        if link.start >= at:
            pieces.append(text[at : link.start])
            at = link.end
    return [*pieces, text[at:]]


def manner(link: Link) -> tuple[object, ...]:
    shown = link.display if link.kind == "wikilink" and "|" in link.original else ""
    return (
        link.kind,
        link.embed,
        link.subpath,
        shown,
        "<" in link.original,
        link.key,
        link.path.startswith(("./", "../")),
    )


@settings(max_examples=400, deadline=None)
@given(vaults(), st.sampled_from(["shortest", "shortest", "relative", "absolute"]))
def test_after_any_moves_every_link_leads_to_its_file(
    vault: tuple[list[str], dict[str, str], str, str], format: LinkFormat
) -> None:
    files, paths, source, text = vault
    moves = moving(paths, files, format)
    links = parse(text).links
    result = relink(text, links, source, moves)
    again = parse(result.text).links
    here = paths.get(source, source)
    assert result.broken == []
    assert len(again) == len(links)
    for old, new in zip(links, again, strict=True):
        target = moves.before.resolve(old.path, source)
        if target is None:
            assert new.original == old.original
        else:
            assert moves.after.resolve(new.path, here) == paths.get(target, target), (
                old.original,
                new.original,
            )
        if format == "shortest":
            assert manner(old)[:-1] == manner(new)[:-1]
        if old.path.startswith(("./", "../")):
            assert new.path.startswith(("./", "../"))
    assert outside(result.text, again) == outside(text, links)
    assert result.count == sum(old.original != new.original for old, new in zip(links, again, strict=True))


@settings(max_examples=100, deadline=None)
@given(vaults())
def test_after_any_moves_a_canvas_leads_to_its_files(
    vault: tuple[list[str], dict[str, str], str, str],
) -> None:
    files, paths, _, text = vault
    moves = moving(paths, files)
    canvas = {"nodes": [{"type": "file", "file": file} for file in files] + [{"type": "text", "text": text}]}
    for ascii_only in (True, False):
        written = json.dumps(canvas, ensure_ascii=ascii_only, indent="\t")
        result = json.loads(relink_canvas(written, "x.canvas", moves).text)
        assert [node["file"] for node in result["nodes"][:-1]] == [paths.get(file, file) for file in files]
        links = [link for link in parse(text).links if not link.in_frontmatter]
        again = [link for link in parse(result["nodes"][-1]["text"]).links if not link.in_frontmatter]
        for old, new in zip(links, again, strict=True):
            target = moves.before.resolve(old.path, "x.canvas")
            if target is not None:
                assert moves.after.resolve(new.path, "x.canvas") == paths.get(target, target)
