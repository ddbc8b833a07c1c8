"""The acceptance list of the obsidian profile: its nine tools, its errors, and how they go over the wire."""

from __future__ import annotations

from tests.acceptance.item import Item

PAGE = "obsidian-profile.md"
LAST = 21
LEFT_OUT: frozenset[int] = frozenset()

WIRE = "obsidian/test_wire.py::test_"
WRITE = "obsidian/test_writing.py::test_"
READ = "obsidian/test_reading.py::test_"
MOVE = "obsidian/test_moving.py::test_"
OPEN = "obsidian/test_opening.py::test_"
TIMED = "timed by benchmarks/obsidian.py, since a test that times fails on a busy machine"

ITEMS = {
    1: Item(
        "initialize is answered in the contract's revision, with tools and who serves",
        (WIRE + "initialize_is_answered_in_the_revision_of_the_contract",),
        "`serverInfo` names this server, and `capabilities` has more than tools",
    ),
    2: Item("initialize is answered within 100 ms and tools/list within 200 ms", (), TIMED),
    3: Item(
        "each line of the output is one object and nothing else",
        (WIRE + "every_line_of_the_output_is_one_object_whatever_is_in_a_note",),
    ),
    4: Item(
        "a reply can be read before the next request",
        (WIRE + "a_reply_can_be_read_before_the_next_request_is_sent",),
    ),
    5: Item(
        "a call before the handshake is an error",
        (WIRE + "a_call_before_the_handshake_is_an_error_and_the_server_goes_on",),
    ),
    6: Item(
        "nine tools are listed, and creating needs only a name",
        (WIRE + "there_are_nine_tools_and_create_needs_only_a_name",),
    ),
    7: Item(
        "creating adds .md and folders, and answers with the path",
        (
            WIRE + "an_answer_is_one_text_with_success_and_data",
            WRITE + "a_note_is_created_under_its_name_with_its_extension",
            WRITE + "an_exact_path_is_taken_as_it_is_and_its_folders_are_made",
        ),
    ),
    8: Item(
        "a note that is there stays, unless it is to be overwritten",
        (
            WRITE + "a_note_that_is_there_stays_untouched",
            WRITE + "overwriting_replaces_a_note_once_a_person_agrees",
            WRITE + "overwriting_nothing_or_an_empty_note_asks_nobody",
        ),
        "a person agrees first to the replacing of a note that is not empty",
    ),
    9: Item(
        "added text has its own lines unless inline, and lands below the properties",
        (
            WRITE + "appended_text_has_a_line_of_its_own",
            WRITE + "inline_text_goes_on_in_the_same_line",
            WRITE + "prepended_text_lands_below_the_properties",
        ),
    ),
    10: Item(
        "a deleted note is in the trash, and for good only where that is asked",
        (
            WRITE + "a_deleted_note_is_in_the_trash_once_a_person_agrees",
            WRITE + "only_what_is_asked_to_be_is_deleted_for_good",
            WRITE + "where_obsidian_keeps_no_trash_a_deleted_note_is_gone",
        ),
        "a person agrees first to every deletion; where Obsidian is set to keep no trash, none is kept",
    ),
    11: Item(
        "moving and renaming rewrite the links",
        (
            MOVE + "a_moved_note_takes_the_links_to_it_along",
            MOVE + "a_renamed_note_stays_in_its_folder_and_takes_its_links_along",
        ),
    ),
    12: Item("facts of a file are six fields", (READ + "a_files_facts_are_six_fields",)),
    13: Item(
        "an Obsidian that is needed and away is -32001; files never need it",
        (OPEN + "a_vault_that_needs_obsidian_says_that_it_does_not_run",),
    ),
    14: Item(
        "unknown vaults, missing notes, ambiguous names, protected folders and slow tools have their numbers",
        (
            "obsidian/test_vault_names.py::test_a_vault_that_only_obsidian_knows_stays_closed",
            READ + "a_note_that_is_not_there_is_told_with_those_most_like_it",
            READ + "a_name_that_several_notes_have_is_an_error_that_lists_them",
            WIRE + "a_folder_that_the_system_protects_is_a_denial",
            OPEN + "a_tool_stops_at_its_own_limit_and_its_child_is_gone",
        ),
    ),
    15: Item(
        "each mistake of a client has its number, and the next request works",
        (WIRE + "each_mistake_of_a_client_has_its_number",),
    ),
    16: Item(
        "what runs is answered before exit, the end of input and signals end the server with 0",
        (WIRE + "what_runs_is_answered_before_the_server_ends",),
    ),
    17: Item(
        "no call starts after the end was announced",
        (
            WIRE + "no_call_starts_once_the_end_has_been_announced",
            WIRE + "what_was_sent_before_the_input_ended_is_answered",
        ),
        "what was sent before is answered; how soon it ends then is timed by benchmarks/obsidian.py",
    ),
    18: Item(
        "a tool's own limit holds, and its child is gone",
        (
            OPEN + "a_tool_stops_at_its_own_limit_and_its_child_is_gone",
            OPEN + "each_tool_has_the_limit_of_its_kind",
        ),
    ),
    19: Item("tools on files take under 3 s and a search under 5 s in ten thousand notes", (), TIMED),
    20: Item(
        "no name leads out of the vault or acts as a command",
        (
            READ + "no_name_leads_out_of_the_vault",
            READ + "a_link_out_of_the_vault_is_not_followed",
            READ + "a_name_that_looks_like_a_command_is_a_name",
            OPEN + "the_configured_opener_gets_the_link_as_one_argument",
        ),
    ),
    21: Item("the log holds no text of a note", (WIRE + "the_log_never_holds_the_text_of_a_note",)),
}
