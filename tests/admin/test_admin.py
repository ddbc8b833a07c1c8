from knapper.testing import Calls, VaultFolder, check_domain
from knapper_admin import admin


def test_the_words_of_a_note_are_counted(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "two words"
    assert call(admin, "measure_admin", path="a.md") == {"path": "a.md", "words": 2}


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(admin)
