"""The acceptance list of the retrieval contract: what each item asks, and the tests that prove it.

Two items are about git synchronisation and its webhook (43, 44), which this server does not have. `ours` says where
another rule of this server stands in the place of what the item asks.
"""

from __future__ import annotations

from tests.acceptance.item import Item

PAGE = "retrieval.md"
LAST = 60
LEFT_OUT = frozenset({43, 44})

HTTP = "conformance/test_retrieval_http.py::test_"
EMBED = "conformance/test_embedders.py::test_"
STATES = "retrieval/test_states.py::test_"
SEARCH = "retrieval/test_searching.py::test_"
READ = "retrieval/test_reading.py::test_"
VALUES = "core/config/test_values.py::test_"
LOAD = "core/config/test_load.py::test_"
HOSTS = "core/embed/test_embed_hosts.py::test_"
INDEX = "core/index/"
CLI = "core/cli/test_commands.py::test_"
STDIO = "server/test_stdio.py::test_"
WEB = "server/test_http.py::test_"

ITEMS = {
    1: Item(
        "a flag beats a variable beats the file beats the default, for a key of each type",
        (VALUES + "a_flag_beats_a_variable_beats_the_file_beats_the_default_for_every_type",),
    ),
    2: Item(
        "an unknown section or key is refused with exit code 2",
        (
            LOAD + "every_wrong_key_is_named_with_the_nearest_right_one",
            "core/config/test_sections.py::test_a_section_that_nobody_owns_is_an_error_with_the_nearest_name",
            CLI + "config_validate_names_every_mistake_on_a_line_and_exits_2",
            STDIO + "a_wrong_configuration_is_told_and_exits_2",
        ),
    ),
    3: Item(
        "a switch is true, false, 1 or 0; an empty variable sets nothing",
        (
            VALUES + "a_switch_is_true_or_false_or_one_or_nought",
            VALUES + "a_switch_is_nothing_else",
            LOAD + "an_empty_variable_sets_nothing",
        ),
    ),
    4: Item(
        "ports are in range, and a batch is not cut before its debounce is over",
        (
            VALUES + "a_port_is_a_port_and_nought_asks_for_a_free_one",
            LOAD + "settings_that_do_not_go_together_are_refused",
        ),
        "port 0 asks for a free port",
    ),
    5: Item(
        "the protocol's path is plain and lies where no route is",
        (
            VALUES + "the_path_of_the_protocol_is_read_in_one_way_only",
            HTTP + "the_protocol_cannot_be_put_where_a_route_is",
        ),
    ),
    6: Item(
        "texts go to no public host, checked at load, at index time and at query time; private ones need the flag",
        (
            HOSTS + "a_public_host_is_refused_when_the_configuration_is_read",
            HOSTS + "a_private_network_needs_its_flag",
            HOSTS + "the_check_is_made_again_before_every_request",
            EMBED + "nothing_is_sent_to_a_host_that_is_not_allowed",
        ),
        "choosing a vendor is consent to its own host, and a flag allows other public ones",
    ),
    7: Item(
        "what shows the configuration hides secrets",
        (
            CLI + "config_show_is_a_file_that_says_the_same_and_hides_secrets",
            CLI + "config_explain_shows_no_secret",
        ),
        "no command prints a key",
    ),
    8: Item(
        ".md and .MARKDOWN are indexed; hidden and excluded files are not",
        (
            "retrieval/test_finding_files.py::test_notes_of_either_ending_are_found_whatever_its_case",
            "retrieval/test_finding_files.py::test_what_is_hidden_or_excluded_is_not_found",
        ),
        "folders that Obsidian shows are indexed unless the vault's exclude names them",
    ),
    9: Item(
        "a link inside the vault is followed, one that leads out is neither indexed nor retrievable",
        (HTTP + "a_link_inside_the_vault_is_what_it_leads_to_and_one_that_leads_out_is_nothing",),
        "a link is its target: the note is found once, under its own path",
    ),
    10: Item(
        "bad UTF-8, NUL, over 2 MiB and bad YAML each have a warning, and the rest is indexed",
        (HTTP + "what_cannot_be_read_is_told_by_its_code_and_the_rest_is_indexed",),
    ),
    11: Item(
        "large and empty notes can be read, have no passages, and are found by their names",
        (
            SEARCH + "an_empty_note_is_found_by_its_name_after_all_passages",
            SEARCH + "a_note_that_is_too_large_is_found_by_its_name",
            READ + "an_empty_note_can_be_read_and_has_no_passages",
        ),
    ),
    12: Item(
        "what stands in fences is neither heading, link nor attachment, but text",
        (
            SEARCH + "fenced_headings_are_text_and_searchable",
            "retrieval/test_finding_files.py::test_links_and_attachments_in_fences_are_neither",
        ),
    ),
    13: Item(
        "4000 characters are one passage, 4001 split at a paragraph, a long paragraph is cut",
        (READ + "sections_are_cut_at_their_limits",),
    ),
    14: Item(
        "the path of headings is right in any order of levels, and empty without headings",
        (READ + "a_passage_comes_with_its_headings",),
    ),
    15: Item(
        "a title is the property, else the first heading, else the name",
        (READ + "a_title_is_the_property_else_the_heading_else_the_name",),
    ),
    16: Item(
        "links resolve to one note, also after an update",
        (
            INDEX + "test_reconcile.py::test_links_resolve_whatever_the_order_in_which_notes_are_read",
            INDEX + "test_any_sequence.py::test_what_it_is_told_of_leaves_the_index_as_a_fresh_one",
        ),
        "links resolve as in Obsidian: by path and name, not by alias or title",
    ),
    17: Item("ids are those of the contract", (READ + "ids_come_from_paths", SEARCH + "ids_have_their_form")),
    18: Item(
        "search by words needs no model and warns of nothing",
        (SEARCH + "lexical_search_works_without_a_model_and_warns_of_nothing",),
    ),
    19: Item("the best by BM25 is first", (SEARCH + "the_best_note_by_words_comes_first",)),
    20: Item(
        "fusion is reciprocal ranks with k 60, and ties are the same in every run and build",
        (
            SEARCH + "fusion_is_the_sum_of_reciprocal_ranks",
            SEARCH + "equal_sums_keep_the_order_of_the_lists",
            SEARCH + "two_builds_of_the_index_answer_the_same",
            SEARCH + "reciprocal_ranks_can_be_chosen_for_meaning_too",
        ),
        "words and meaning are blended by their scores unless `retrieval.fusion` says rrf",
    ),
    21: Item(
        "scores lie between 0 and 1 and never rise",
        (SEARCH + "scores_lie_between_nought_and_one_and_never_rise",),
    ),
    22: Item(
        "two, three and four Japanese letters are found inside a run",
        (SEARCH + "japanese_is_found_in_the_middle_of_a_run",),
    ),
    23: Item(
        "nothing in a query acts as syntax",
        (SEARCH + "nothing_in_a_query_acts_as_syntax", SEARCH + "not_does_not_exclude"),
    ),
    24: Item(
        "every mode does what is documented in every state of the model",
        (SEARCH + "every_mode_does_what_the_contract_says_in_every_state",),
    ),
    25: Item(
        "a limit is a whole number from 1 to 50",
        (
            SEARCH + "a_limit_out_of_range_is_refused",
            SEARCH + "a_limit_of_another_type_is_refused",
            SEARCH + "the_outermost_limits_are_allowed",
        ),
    ),
    26: Item(
        "a blank or endless query is refused, and no answer or log holds a query",
        (SEARCH + "a_blank_or_endless_query_is_refused", SEARCH + "no_answer_and_no_log_holds_the_query"),
    ),
    27: Item(
        "a snippet is short, shows the match, and is never the whole",
        (SEARCH + "a_snippet_is_short_shows_the_match_and_is_never_the_whole",),
    ),
    28: Item(
        "related leaves out its input, shows what is linked, and knows what is missing",
        (
            READ + "related_leaves_out_the_note_itself_and_names_the_reason",
            READ + "related_to_a_passage_leaves_out_only_that_passage",
            READ + "an_unknown_id_is_not_found",
        ),
    ),
    29: Item(
        "a model that fails leaves words working; where vectors are required indexing fails",
        (
            SEARCH + "a_failing_model_at_index_time_leaves_words_working",
            EMBED + "words_find_everything_whatever_the_server_does",
            HTTP + "indexing_that_requires_vectors_fails_where_no_model_is_and_words_go_on",
        ),
    ),
    30: Item(
        "a provider that reports another model's name does not invalidate the index",
        (EMBED + "a_server_that_reports_another_models_name_changes_nothing",),
    ),
    31: Item(
        "204800 bytes of a note are sent, 204801 only on request",
        (READ + "a_note_over_the_limit_needs_leave",),
    ),
    32: Item(
        "an attachment comes without bytes; over 10 MiB only on request, over 50 MiB never",
        (
            HTTP + "an_attachment_is_told_of_without_its_bytes_and_sent_as_they_are_on_request",
            HTTP + "a_download_over_ten_mebibytes_needs_leave",
            "attachments/test_attachments.py::test_large_files_are_sent_only_on_request",
            "attachments/test_attachments.py::test_over_fifty_mebibytes_nothing_is_sent_whatever_is_asked",
        ),
        "over the protocol the limit is `max_bytes` of the call, and that of the server's governor",
    ),
    33: Item(
        "no spelling leads out of the vault, and no answer has an absolute path",
        (
            HTTP + "what_is_no_attachment_of_the_vault_is_refused_without_an_absolute_path",
            "security/test_paths.py::test_no_spelling_leads_out",
        ),
    ),
    34: Item(
        "a note, a folder and a missing file are each refused by their code, over both surfaces",
        (
            HTTP + "what_is_no_attachment_of_the_vault_is_refused_without_an_absolute_path",
            HTTP + "the_protocol_names_what_is_no_attachment_in_the_same_words",
        ),
    ),
    35: Item(
        "before there is an index a search is INDEX_NOT_FOUND, and the server is up",
        (STATES + "before_anything_is_indexed_a_search_is_an_error_that_may_be_tried_again",),
        "the server makes its index at its start, so this lasts for a moment",
    ),
    36: Item(
        "an index that does not fit is said to be so, and is right after a rebuild",
        (
            INDEX + "test_damage.py::test_an_index_of_another_configuration_is_built_anew",
            INDEX + "test_damage.py::test_nothing_is_answered_from_an_index_that_is_known_to_be_damaged",
            STATES + "a_damaged_index_has_the_number_and_the_name_of_the_contract",
        ),
        "the rebuild begins by itself; nobody has to ask for it",
    ),
    37: Item(
        "an index that is not level answers with a warning, a fresh one without",
        (
            STATES + "a_fresh_index_is_said_to_be_fresh_and_warns_of_nothing",
            STATES + "an_index_in_trouble_answers_from_what_it_has_and_says_that_it_is_stale",
            STATES + "an_index_under_way_answers_from_what_it_has_and_says_how_far_it_is",
        ),
    ),
    38: Item(
        "what other programs do is found, also after a reindex",
        (HTTP + "what_other_programs_do_is_found_also_after_a_reindex",),
    ),
    39: Item(
        "a hundred rapid changes are one update, and endless ones are taken in",
        (
            INDEX + "test_watching.py::test_a_hundred_rapid_changes_are_one_update",
            INDEX + "test_watching.py::test_changes_that_never_end_are_taken_in_all_the_same",
        ),
    ),
    40: Item(
        "a kill while indexing leaves the previous index intact",
        (INDEX + "test_interrupted.py::test_a_kill_in_the_middle_leaves_the_previous_index_intact",),
    ),
    41: Item(
        "a second indexing run is INDEX_BUSY, and reading goes on",
        (STATES + "a_second_indexing_run_at_the_same_time_is_refused_and_reading_goes_on",),
        "the tool index_vault joins the run instead",
    ),
    42: Item(
        "a watch that cannot stand is told, and the server is up",
        (STATES + "a_watch_that_cannot_stand_is_told_in_the_status_and_the_server_goes_on",),
    ),
    45: Item(
        "every route has the envelope with a request id, and at most a hundred warnings",
        (
            HTTP + "every_error_has_the_envelope_with_a_request_id",
            STATES + "every_route_spells_what_the_server_refuses_in_its_own_envelope",
            "retrieval/test_routes.py::test_more_than_a_hundred_warnings_are_cut_with_a_word_about_it",
        ),
    ),
    46: Item(
        "a listener that others can reach needs a key of 32 characters, also for health",
        (
            LOAD + "settings_that_do_not_go_together_are_refused",
            HTTP + "a_key_is_needed_on_every_route_also_for_health",
        ),
        "without a key it does not start; none is generated",
    ),
    47: Item(
        "HTTP is off by default, and wants the bearer where one is configured",
        (
            HTTP + "the_routes_are_off_unless_they_are_asked_for",
            WEB + "a_bearer_is_needed_where_one_is_configured_and_every_failure_reads_the_same",
        ),
        "a wrong key is 401 like a missing one, as MCP has it",
    ),
    48: Item(
        "the five tools are listed with their schemas, and as reading only",
        ("retrieval/test_finding_files.py::test_the_tools_are_listed_as_reading_only_with_closed_schemas",),
        "they stand among the tools of all domains",
    ),
    49: Item(
        "HTTP and MCP answer the same, for all five tools",
        (HTTP + "http_and_the_protocol_answer_the_same",),
    ),
    50: Item(
        "what is wrong with a call is told by its kind",
        (
            HTTP + "errors_of_these_tools_are_numbered_over_the_protocol",
            HTTP + "missing_and_mistyped_and_unknown_parameters_are_named",
            "bridge_rest/test_beside_mcp.py::test_unknown_and_disabled_tools_are_refused_over_mcp_too",
        ),
        "unknown parameters are refused by name, and arguments that do not fit are errors that the model reads",
    ),
    51: Item(
        "malformed JSON is answered, and the session goes on",
        (
            STDIO + "malformed_json_is_answered_and_the_session_goes_on",
            WEB + "malformed_json_is_400_and_the_session_goes_on",
        ),
    ),
    52: Item(
        "a strict server refuses older and missing revisions",
        (
            STDIO + "a_strict_server_refuses_older_and_missing_revisions",
            WEB + "a_strict_server_refuses_older_revisions_here_too",
        ),
    ),
    53: Item(
        "without a vault it is said how to name one",
        (LOAD + "without_any_vault_it_says_how_to_name_one",),
        "the server does not start without a vault",
    ),
    54: Item(
        "what runs is finished when the server ends",
        (
            STDIO + "what_runs_is_finished_and_what_is_new_is_refused",
            WEB + "stopping_lets_a_running_call_finish_and_ends_open_streams",
        ),
    ),
    55: Item(
        "no call takes longer than 60 seconds",
        (
            STATES + "nothing_that_a_call_waits_for_may_take_longer_than_the_call_has",
            EMBED + "a_slow_server_is_a_timeout_for_documents_and_queries",
        ),
        "what a call waits for has limits that add up to less; then it answers by words",
    ),
    56: Item(
        "ten sessions and one on stdio get only their own answers",
        ("server/test_http_sdk.py::test_ten_sessions_and_one_on_stdio_get_only_their_own_answers",),
    ),
    57: Item(
        "standard output carries messages only",
        (STDIO + "standard_output_carries_messages_only_whatever_a_plugin_prints",),
    ),
    58: Item(
        "logs, errors and status hold no text, query, key or path",
        (HTTP + "logs_and_errors_and_status_hold_no_text_no_query_no_key_and_no_path",),
    ),
    59: Item(
        "exit codes tell what went wrong, and errors go to standard error",
        (
            CLI + "a_mistake_in_usage_exits_2_and_says_nothing_on_stdout",
            CLI + "index_of_what_does_not_exist_is_a_mistake_that_is_told",
            CLI + "config_validate_says_that_it_is_well",
        ),
        "the commands are those of this server; searching is done by clients",
    ),
    60: Item(
        "it is as fast as the contract asks",
        (),
        "timed by benchmarks/retrieval.py, since a test that times fails on a busy machine",
    ),
}
