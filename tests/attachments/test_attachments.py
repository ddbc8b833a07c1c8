import base64

import pytest

from knapper import Image, ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_attachments import attachments

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def fill(vault: VaultFolder) -> None:
    vault["img/a b.png"] = PNG
    vault["img/lonely.pdf"] = b"%PDF-1.4\n"
    vault["n.md"] = "![[a b.png|100]] and ![x](img/a%20b.png)\n"
    vault["m.md"] = '---\ncover: "[[a b.png]]"\n---\n'
    vault["c.canvas"] = '{"nodes":[{"id":"1","type":"file","file":"img/a b.png"}],"edges":[]}'


def test_attachments_are_listed_with_the_notes_that_refer_to_them(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    page = call(attachments, "list_attachments")
    assert [(a["path"], a["mime"], a["reference_count"]) for a in page["items"]] == [
        ("img/a b.png", "image/png", 3),
        ("img/lonely.pdf", "application/pdf", 0),
    ]
    assert page["total_count"] == 2
    assert [a["path"] for a in call(attachments, "list_attachments", orphans_only=True)["items"]] == [
        "img/lonely.pdf"
    ]
    assert [a["path"] for a in call(attachments, "list_attachments", extensions=[".PNG"])["items"]] == [
        "img/a b.png"
    ]


def test_what_only_a_canvas_shows_is_no_orphan(call: Calls, vault: VaultFolder) -> None:
    for name in ("node", "ground", "card", "nobody", "secret"):
        vault[f"img/{name}.png"] = PNG
    vault["c.canvas"] = (
        '{"nodes":[{"id":"1","type":"file","file":"img/node.png"},{"id":"2","type":"file","file":"img/node.png"},'
        '{"id":"3","type":"group","background":"img/ground.png"},{"id":"4","type":"text","text":"![[card.png]]"}]}'
    )
    vault["private/d.canvas"] = '{"nodes":[{"id":"1","type":"file","file":"img/secret.png"}]}'
    vault["broken.canvas"] = "{"
    call.settings = {"acl": {"read_paths": ["img/**", "*.canvas"]}}
    orphans = call(attachments, "list_attachments", orphans_only=True)
    assert [a["path"] for a in orphans["items"]] == ["img/nobody.png", "img/secret.png"]
    assert orphans["total_count"] == 2
    used = call(attachments, "list_attachments", referenced_only=True)["items"]
    assert [(a["path"], a["reference_count"]) for a in used] == [
        ("img/card.png", 1),
        ("img/ground.png", 1),
        ("img/node.png", 1),
    ]


def test_the_type_is_read_from_the_content(call: Calls, vault: VaultFolder) -> None:
    vault["wrong.pdf"] = PNG
    vault["fake.png"] = "no picture"
    vault["data.bin"] = b"\0\1\2"
    assert call(attachments, "get_attachment", path="wrong.pdf")["mime"] == "image/png"
    assert call(attachments, "get_attachment", path="fake.png")["mime"] == "application/octet-stream"
    assert call(attachments, "get_attachment", path="data.bin")["mime"] == "application/octet-stream"


def test_a_picture_comes_as_bytes_and_as_a_picture(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    outcome = call.outcome(attachments, "get_attachment", path="img/a b.png", download=True)
    assert outcome.attachments == [Image(PNG, "image/png")]
    fetched = call(attachments, "get_attachment", vault_relative_path="img/a b.png", include_data=True)
    assert base64.b64decode(fetched["data_base64"]) == PNG
    assert "data_base64" not in call(attachments, "get_attachment", path="img/a b.png")


def test_large_files_are_sent_only_on_request(call: Calls, vault: VaultFolder) -> None:
    vault["big.bin"] = "x" * 200
    with pytest.raises(ToolError) as refused:
        call(attachments, "get_attachment", path="big.bin", download=True, max_bytes=100)
    assert refused.value.code == "QUERY_TOO_LARGE"
    assert call(
        attachments, "get_attachment", path="big.bin", download=True, max_bytes=100, allow_large=True
    )["data_base64"]


def test_over_fifty_mebibytes_nothing_is_sent_whatever_is_asked(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"governor": {"max_response_bytes": 200_000_000}}
    vault["huge.bin"] = ""
    with (vault.path / "huge.bin").open("r+b") as file:
        file.truncate(52_428_801)
    with pytest.raises(ToolError) as refused:
        call(
            attachments,
            "get_attachment",
            path="huge.bin",
            download=True,
            allow_large=True,
            max_bytes=100_000_000,
        )
    assert (refused.value.code, refused.value.details["limit"]) == ("QUERY_TOO_LARGE", 52_428_800)
    assert call(attachments, "get_attachment", path="huge.bin")["size_bytes"] == 52_428_801


@pytest.mark.parametrize(
    ("path", "code"),
    [("n.md", "invalid_input"), ("gone.png", "note_not_found"), (".obsidian/app.json", "acl_denied")],
)
def test_what_is_no_attachment_is_refused(call: Calls, vault: VaultFolder, path: str, code: str) -> None:
    fill(vault)
    vault[".obsidian/app.json"] = "{}"
    with pytest.raises(ToolError) as refused:
        call(attachments, "get_attachment", path=path)
    assert refused.value.code == code


def test_a_move_rewrites_embeds_links_properties_and_canvases(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    moved = call(attachments, "move_attachment", from_="img/a b.png", to="img/c.png")
    assert moved["references_updated"] == 4
    assert vault["n.md"] == "![[c.png|100]] and ![x](c.png)\n"
    assert vault["m.md"] == '---\ncover: "[[c.png]]"\n---\n'
    assert '"file":"img/c.png"' in vault["c.canvas"]


def test_the_links_in_the_cards_of_a_moved_canvas_lead_where_they_led(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a/n.md"] = vault["b/n.md"] = vault["a/broken.canvas"] = "{"
    vault["a/c.canvas"] = '{"nodes":[{"id":"1","type":"text","text":"[[./n]] [[n]] ![](n.md)"}]}'
    call.confirmed(attachments, "move_attachment", from_="a/c.canvas", to="b/c.canvas")
    assert vault["b/c.canvas"] == (
        '{"nodes":[{"id":"1","type":"text","text":"[[../a/n]] [[a/n]] ![](a/n.md)"}]}'
    )
    call.confirmed(attachments, "move_attachment", from_="a/broken.canvas", to="b/broken.canvas")
    assert vault["b/broken.canvas"] == "{"


def test_a_move_across_folders_needs_a_person(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    with pytest.raises(ToolError) as refused:
        call(attachments, "move_attachment", from_="img/a b.png", to="pics/a.png")
    assert refused.value.code == "elicit_required"
    call.confirmed(attachments, "move_attachment", from_="img/a b.png", to="pics/a.png")
    assert vault.bytes("pics/a.png") == PNG


def test_deleting_what_notes_refer_to_needs_force_and_a_person(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    with pytest.raises(ToolError) as refused:
        call.confirmed(attachments, "delete_attachment", path="img/a b.png")
    referring = ["c.canvas", "m.md", "n.md"]
    assert (refused.value.code, refused.value.details["references"]) == ("invalid_input", referring)
    gone = call.confirmed(attachments, "delete_attachment", path="img/a b.png", force=True)
    assert (gone["recoverable"], gone["references_at_delete"]) == (True, referring)
    assert vault.bytes(gone["trash_path"]) == PNG


def test_what_only_a_card_of_a_canvas_shows_is_not_deleted_as_if_nobody_needed_it(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a b.png"], vault["x/other.png"] = PNG, PNG
    vault["broken.canvas"], vault["bytes.canvas"] = "{", b"\xff a b.png"
    vault["c.canvas"] = '{"nodes":[{"id":"1","type":"text","text":"![](A%20b.png)"}]}'
    with pytest.raises(ToolError) as refused:
        call.confirmed(attachments, "delete_attachment", path="a b.png")
    assert refused.value.details["references"] == ["c.canvas"]
    assert call.confirmed(attachments, "delete_attachment", path="x/other.png")["references_at_delete"] == []


def test_a_move_leaves_every_byte_outside_the_links(call: Calls, vault: VaultFolder) -> None:
    before = (
        b"\xef\xbb\xbf---\r\ncover: '[[a b.png]]' # why\r\n---\r\n`![[a b.png]]`\t\n![[a b.png|100]]  \r\n"
        b'```\n![[a b.png]]\n```\n[t](img/a%20b.png "title") ![[other.png]] \xf0\x9f\x8e\x89'
    )
    vault["img/a b.png"], vault["other.png"], vault["n.md"] = PNG, PNG, before
    moved = call(attachments, "move_attachment", from_="img/a b.png", to="img/c.png")
    after = before.replace(b"'[[a b.png]]'", b"'[[c.png]]'").replace(b"![[a b.png|100]]", b"![[c.png|100]]")
    assert vault.bytes("n.md") == after.replace(b"(img/a%20b.png", b"(c.png")
    assert moved["references_updated"] == 3


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(attachments)
