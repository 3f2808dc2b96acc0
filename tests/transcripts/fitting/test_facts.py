"""What a compaction's summary says of what was said, without a model."""

from __future__ import annotations

from gitguard.model.conversation import AGENT, MESSAGE, TEXT, USER, Block, TranscriptEntry
from gitguard.model.redaction.redactor import Redactor
from gitguard.transcripts.fitting.chunks import Unit
from gitguard.transcripts.fitting.facts import said_in


def said(place: int, role: str, text: str) -> TranscriptEntry:
    block = Block(TEXT, 0, text)
    return TranscriptEntry(place, place + 1, kind=MESSAGE, role=role, blocks=(block,))


def test_an_answer_with_a_list_is_one_line_and_none_of_its_items_stands_by_itself() -> None:
    answer = "Ported:\n- the reader of rows.py\n- Never drop row 7 of it"
    unit = Unit.of([said(0, USER, "Port rows.py to Zig"), said(1, AGENT, answer)])
    lines = said_in([unit], Redactor()).splitlines()
    assert len(lines) == 2
    assert lines[1] == "- Agent: Ported: the reader of rows.py. Never drop row 7 of it."
