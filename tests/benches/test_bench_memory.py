"""What the block of a generated conversation has, in each language; the bench measures more."""

from __future__ import annotations

import pytest

from tests.benches.bench_memory import Cell, measure, same_content
from tests.benches.memory_conversations import AGENT, HOOK, STALE, USER, conversation, unfolded
from tests.benches.memory_wordings import LANGUAGES

_SEED = 4
_FLOOR = 0.95
"""Of the facts, where each language has the room that its text takes: five points under English."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_block_has_the_facts_of_a_conversation_without_notes_in_any_language(
    language: str,
) -> None:
    room = round(700 * max(same_content(language, range(1, 6), 30), 1))
    counted = measure(Cell(language, 30, room, 0), [_SEED])
    assert counted.have[STALE] == 0
    assert counted.share(USER, HOOK, AGENT) >= _FLOOR


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_replaced_names_what_took_its_place(language: str) -> None:
    _, facts = conversation(_SEED, 30, language)
    replaced = [fact for fact in facts if fact.kind == "superseded"]
    assert replaced
    assert all(fact.newer for fact in replaced)
    for fact in replaced:
        assert fact.is_in(fact.needle)
        assert not fact.is_in(f"{fact.newer}, {fact.needle}")


def test_a_folded_path_is_looked_for_as_a_shell_expands_it() -> None:
    assert unfolded("- src/{a.py,api/b.py} (gone)") == "- src/a.py src/api/b.py (gone)"
    assert unfolded("- src/a.py") == "- src/a.py"
