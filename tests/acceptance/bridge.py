"""The acceptance list of the bridge: protocol v1, MCP beside it, the proxy on stdio, and script tools."""

from __future__ import annotations

from tests.acceptance.item import Item

PAGE = "bridge.md"
LAST = 29
LEFT_OUT: frozenset[int] = frozenset()

CALLS = "bridge_rest/test_calls.py::test_"
DOORS = "bridge_rest/test_doors.py::test_"
HASH = "bridge_rest/test_hash.py::test_"
BESIDE = "bridge_rest/test_beside_mcp.py::test_"
WEB = "server/test_http.py::test_"
HOSTS = "bridge_stdio/test_hosts.py::test_"
LOOKING = "bridge_stdio/test_looking.py::test_"
OPTIONS = "bridge_stdio/test_options.py::test_"
RELAYING = "bridge_stdio/test_relaying.py::test_"
FOLLOWING = "scripts/test_following.py::test_"
LOADING = "scripts/test_loading.py::test_"

ITEMS = {
    1: Item(
        "the health of the host is three things, and the protocol's version is a text",
        (CALLS + "health_says_three_things_and_nothing_else",),
    ),
    2: Item(
        "tools are listed by name with three fields each, without the disabled ones",
        (CALLS + "tools_are_listed_by_name_with_three_fields_and_without_the_disabled",),
    ),
    3: Item("the hash is that of the four vectors", (HASH + "the_hash_is_that_of_the_published_vectors",)),
    4: Item(
        "the hash changes with what is listed, and with nothing else",
        (
            HASH + "neither_the_order_of_keys_nor_of_tools_nor_other_fields_change_the_hash",
            HASH + "a_description_or_another_tool_changes_the_hash",
            HASH + "disabling_a_tool_changes_the_served_hash_and_a_restart_does_not",
        ),
    ),
    5: Item(
        "a success is 200 and says nothing of errors",
        (CALLS + "a_call_that_succeeds_has_content_and_no_word_of_errors",),
    ),
    6: Item(
        "a tool that fails or raises is 200 with success false and isError",
        (CALLS + "a_tool_that_fails_is_an_answer_and_not_a_fault",),
    ),
    7: Item(
        "pictures arrive byte for byte; unknown kinds and keys survive all the way",
        (
            CALLS + "a_picture_arrives_byte_for_byte_with_its_type",
            RELAYING + "content_of_every_kind_comes_through_v1_as_it_was",
            RELAYING + "content_of_every_kind_comes_through_mcp_as_it_was",
        ),
    ),
    8: Item("a body that is no call is 400", (CALLS + "a_body_that_is_no_call_is_refused",)),
    9: Item("a missing argument is 400 and named", (CALLS + "arguments_that_are_missing_are_named",)),
    10: Item(
        "unknown and disabled tools are 404; a name of any characters works where it is encoded",
        (
            CALLS + "unknown_and_disabled_tools_are_the_same_404_whatever_the_body",
            CALLS + "a_name_is_what_its_encoding_stands_for",
            RELAYING + "names_of_every_kind_reach_the_host",
        ),
        "names of tools are small letters, digits and underscores; the proxy takes other hosts' as they are",
    ),
    11: Item(
        "a wrong verb is 405 and an unknown path 404, both in JSON",
        (CALLS + "other_verbs_and_other_paths_are_refused_in_json",),
    ),
    12: Item(
        "1048576 bytes are taken and one more is 413, also in chunks",
        (CALLS + "bodies_are_counted_as_they_arrive",),
    ),
    13: Item(
        "a fault of the host is 500 without a trace or a path",
        (CALLS + "a_fault_of_the_host_says_neither_where_nor_why",),
    ),
    14: Item("it listens on loopback only by default", (DOORS + "it_listens_on_loopback_only",)),
    15: Item(
        "a preflight is answered as configured; foreign origins and foreign hosts are refused",
        (
            DOORS + "foreign_pages_and_foreign_names_are_refused",
            DOORS + "a_page_that_was_named_is_let_in_and_may_read_the_answer",
            DOORS + "every_page_is_let_in_only_where_that_was_asked_for",
        ),
    ),
    16: Item(
        "MCP lists and calls as v1 does, with isError on both outcomes",
        (
            BESIDE + "both_list_the_same_tools_under_one_hash",
            BESIDE + "both_answer_a_call_with_the_same_content",
        ),
    ),
    17: Item(
        "MCP has JSON-RPC's code for each mistake, and a disabled tool is refused",
        (
            BESIDE + "what_is_no_request_has_the_codes_of_json_rpc",
            BESIDE + "unknown_and_disabled_tools_are_refused_over_mcp_too",
        ),
    ),
    18: Item(
        "MCP without a key is 503 where none is configured, else 401; two headers; constant time",
        (
            WEB + "where_no_key_was_configured_one_is_made_and_nobody_comes_in_without_it",
            BESIDE + "a_wrong_bearer_is_401_on_both_surfaces",
            BESIDE + "a_key_is_taken_from_either_header_on_both_surfaces",
            "verifier_apikey/test_verifier_apikey.py::test_a_key_is_compared_in_constant_time_and_whole",
        ),
        "no server lacks a key that it needs: it makes one, or does not start, so nothing is left to be 503",
    ),
    19: Item(
        "a session has an id, which is needed, known, its own, and gone when it is ended or too old",
        (
            BESIDE + "a_session_is_needed_ends_and_is_its_own",
            WEB + "a_session_is_opened_used_and_deleted",
            WEB + "what_belongs_to_no_session_is_refused",
            WEB + "what_one_session_cancels_and_watches_is_nothing_to_another",
            WEB + "a_session_of_one_caller_is_nothing_to_another",
            WEB + "a_session_that_nobody_uses_grows_old_and_is_forgotten",
        ),
    ),
    20: Item(
        "the proxy greets its client at once without a host, and tells when the tools are there",
        (
            HOSTS + "a_client_is_greeted_before_the_first_look_is_over",
            HOSTS + "a_host_that_never_answers_does_not_keep_the_client_waiting",
            HOSTS + "it_answers_without_a_host_and_tells_when_the_tools_are_there",
        ),
    ),
    21: Item(
        "a changed list is told once, an unchanged one never",
        (
            LOOKING + "a_changed_list_is_told_once_and_an_unchanged_one_never",
            OPTIONS + "without_a_word_it_is_knappers_own_port_on_this_machine",
        ),
    ),
    22: Item(
        "pauses are 1, 2, 4, 8, 16, 30, 30 seconds, thirty attempts; a refusal is not tried again",
        (
            LOOKING + "pauses_double_up_to_thirty_seconds_and_end_with_the_thirtieth_attempt",
            LOOKING + "a_host_that_refuses_is_asked_once",
            HOSTS + "a_key_is_sent_and_a_host_that_refuses_is_not_asked_again",
        ),
        "each pause is cut at random by up to half, and a host that was met is never given up",
    ),
    23: Item(
        "a host that dies costs failed calls, and is found again",
        (HOSTS + "a_host_that_is_killed_costs_one_call_and_is_found_again",),
    ),
    24: Item(
        "the environment has defaults and is overridden; what cannot be used is noted",
        (
            OPTIONS + "without_a_word_it_is_knappers_own_port_on_this_machine",
            OPTIONS + "the_environment_says_where_and_how",
            OPTIONS + "the_nearer_word_counts_more",
            OPTIONS + "a_port_that_is_none_is_noted_and_the_default_taken",
            OPTIONS + "a_transport_that_is_none_is_noted_and_the_default_taken",
            OPTIONS + "a_process_reads_its_environment_and_notes_what_it_cannot_use",
        ),
        "the default port is that of this server, 8765",
    ),
    25: Item(
        "auto lists over v1 after any failure of MCP, and sends no call twice",
        (
            RELAYING + "auto_lists_over_v1_whatever_is_wrong_with_mcp",
            RELAYING + "a_call_that_gets_no_answer_is_not_sent_again",
            RELAYING + "a_call_that_may_have_been_executed_is_not_sent_again",
            RELAYING + "a_call_that_certainly_was_not_executed_goes_the_other_way",
        ),
    ),
    26: Item(
        "the same tools have the same hash over both",
        (
            BESIDE + "both_list_the_same_tools_under_one_hash",
            HOSTS + "both_protocols_give_one_hash_and_switching_is_no_change",
        ),
    ),
    27: Item(
        "standard output has messages only, and the end of input and SIGTERM end it with 0",
        (
            HOSTS + "it_ends_well_without_a_host_and_writes_nothing_but_answers",
            HOSTS + "a_signal_lets_what_runs_finish_and_ends_well",
            HOSTS + "a_signal_ends_it_before_anybody_has_said_anything",
        ),
    ),
    28: Item(
        "a script that comes, changes, goes, is renamed or is broken takes effect at once",
        (
            FOLLOWING + "each_change_of_a_script_reaches_the_clients",
            LOADING + "a_changed_script_is_gone_until_it_is_trusted_again",
            LOADING + "a_deleted_or_renamed_script_takes_its_tool_along",
            LOADING + "a_broken_script_costs_only_itself",
            LOADING + "files_without_a_tool_are_skipped_in_silence",
            "scripts/test_page.py::test_its_numbers_and_names_are_those_of_the_code",
        ),
        "a script is a tool only once its content is trusted, and is written in Python",
    ),
    29: Item(
        "a folder of scripts that is absolute or leads out is the default",
        (
            "scripts/test_settings.py::test_a_folder_that_is_not_inside_the_vault_is_the_default_with_a_warning",
        ),
    ),
}
