"""The profile of whole conversations: recorded ones, generated ones, and what is none."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitguard.cli.app import app
from gitguard.errors import GitguardError, InvalidDocument, InvalidInput
from gitguard.model.config.config import DEFAULTS
from gitguard.model.conversation import (
    CALL,
    COMPACTION,
    MESSAGE,
    TEXT,
    THINKING,
    Block,
    TranscriptEntry,
)
from gitguard.model.events import Transcript
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import timestamp
from gitguard.profile.patterns import BURSTY, CONVERSATIONAL, MIXED, TOOL_HEAVY, UNKNOWN
from gitguard.profile.profile import COUNTED, DEDUCED, HIDDEN, MEASURED, RULE, Component, Range
from gitguard.profile.profiling import Profiled, _given, profile_of
from gitguard.profile.tally import (
    ANSWERS,
    HOST_NOTES,
    THOUGHTS,
    TOOL_CALLS,
    TOOL_RESULTS,
    USER_MESSAGES,
    Stretch,
    Tally,
    Teller,
    is_measured,
    tally,
)
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.context import context_of
from gitguard.transcripts.fitting.thinning import thinned
from gitguard.transcripts.formats.recognition import recognise
from tests.support.conversation import Conversation
from tests.support.measuring import peak_megabytes
from tests.support.openclaw_sessions import LAY_OUT, MAIN
from tests.support.pages import check_console
from tests.support.profile_page import members, named_on_the_page
from tests.support.scratch import make_repository, shell
from tests.support.spoken import DIALECTS, NOW, Said, entries, turns
from tests.support.written_conversations import Document, agent, user, write
from tests.support.written_conversations import claude_code as claude_code_lines

PAYLOADS = Path(__file__).parents[1] / "payloads"
CLAUDE_CODE = PAYLOADS / "claude_code"
RECORDED = {
    "claude-code": CLAUDE_CODE / "transcript.jsonl",
    "claude-code, compacted by itself": CLAUDE_CODE / "transcript.auto_compacted.jsonl",
    "codex": PAYLOADS / "codex/rollout.jsonl",
    "gemini": PAYLOADS / "gemini/chat.jsonl",
    "opencode": PAYLOADS / "opencode/opencode.db",
    "pi": PAYLOADS / "pi/session.jsonl",
}
recorded = pytest.mark.parametrize("path", RECORDED.values(), ids=RECORDED)
dialects = pytest.mark.parametrize("dialect", DIALECTS)


def profiled(transcript: Transcript, **options: Any) -> Profiled:
    return profile_of(transcript, DEFAULTS, Redactor(), **options)


def part(found: Profiled, name: str) -> Component:
    return next(each for each in found.profile.components if each.name == name)


def counts(found: Profiled) -> dict[str, int]:
    return {each.name: each.count for each in found.profile.components if each.count}


# Recorded conversations


def opened(path: Path, folder: Path) -> Transcript:
    """Recognise a copy, as opening a database may leave files beside it."""
    name = path.parent.name.replace("_", "-")
    return recognise(str(shutil.copy(path, folder)), name)


@recorded
def test_what_is_used_is_what_the_host_measured(path: Path, tmp_path: Path) -> None:
    transcript = opened(path, tmp_path)
    reading = find_format(transcript.format).newest_reading(transcript)
    found = profiled(transcript).profile
    assert reading is not None
    assert found.used.low == found.used.high == reading.tokens
    assert found.used_source == MEASURED


@recorded
def test_the_first_answer_is_measured_with_all_that_the_transcript_shows(
    path: Path, tmp_path: Path
) -> None:
    """The components add up to what was used then: nothing is counted twice, and none is left."""
    transcript = opened(path, tmp_path)
    read = find_format(transcript.format).entries
    first = next(entry for entry in read(transcript) if is_measured(entry))
    if transcript.format == "opencode":
        with closing(sqlite3.connect(transcript.path)) as database, database:
            database.execute("DELETE FROM message WHERE rowid > ?", (first.at,))
    else:
        Path(transcript.path).write_bytes(Path(transcript.path).read_bytes()[: first.end])
    found = profiled(transcript)
    total = [part.tokens for part in found.profile.components]
    assert part(found, "baseline").source == DEDUCED
    assert not found.profile.notes
    assert sum(each.low for each in total) <= first.tokens <= sum(each.high for each in total)


@recorded
def test_every_component_says_where_its_number_comes_from(path: Path, tmp_path: Path) -> None:
    for each in profiled(opened(path, tmp_path)).profile.components:
        assert each.source in (COUNTED, RULE, DEDUCED, HIDDEN)
        assert 0 <= each.tokens.low <= each.tokens.high


@recorded
def test_sizes_alone_tell_the_same_context(path: Path, tmp_path: Path) -> None:
    transcript = opened(path, tmp_path)
    read = find_format(transcript.format).entries
    whole = context_of(read(transcript))
    thin = context_of(thinned(read(transcript)).entries)
    assert [(e.id, e.role, e.size, e.by_host) for e in whole.entries] == [
        (e.id, e.role, e.size, e.by_host) for e in thin.entries
    ]
    assert (whole.summary, tally(whole.entries)) == (thin.summary, tally(thin.entries))
    assert not any(block.text for entry in thin.entries for block in entry.blocks)


@pytest.mark.parametrize("name", sorted(RECORDED.keys() - {"claude-code"}))
def test_all_that_was_said_is_in_the_context(name: str, tmp_path: Path) -> None:
    """Before a compaction, and behind it but for the summary; nobody left a branch.

    The first of Claude Code's lacks the id of a line that another follows.
    """
    transcript = opened(RECORDED[name], tmp_path)
    story = list(find_format(transcript.format).entries(transcript))
    at = next((at for at, entry in enumerate(story) if entry.kind == COMPACTION), len(story))
    assert said_in(context_of(story[:at]).entries) == said_in(story[:at])
    context = context_of(story)
    behind = [blocks for blocks in said_in(story[at + 1 :]) if blocks[0].text != context.summary]
    stands = said_in(context.entries)
    assert stands[len(stands) - len(behind) :] == behind


def said_in(told: Iterable[TranscriptEntry]) -> list[tuple[Block, ...]]:
    return [entry.blocks for entry in told if entry.kind == MESSAGE and not entry.is_aside]


@recorded
def test_the_summary_of_a_compaction_is_known(path: Path, tmp_path: Path) -> None:
    """Wherever it stands: in the compaction itself, right behind it, or behind notes."""
    transcript = opened(path, tmp_path)
    story = list(find_format(transcript.format).entries(transcript))
    if not any(entry.kind == COMPACTION and not entry.is_aside for entry in story):
        return
    found = part(profiled(transcript), "summaries")
    assert (found.count, found.source) == (1, COUNTED)
    assert found.tokens.high > 0


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_what_a_compaction_took_away_is_no_part_of_the_context(name: str) -> None:
    """Their compactions have no id, and list what they keep."""
    found = list(find_format(name).entries(Transcript(str(RECORDED[name]), name)))
    at = next(entry.at for entry in found if entry.kind == COMPACTION)
    kept = {each for entry in found if entry.kind == COMPACTION for each in entry.kept}
    for entry in context_of(found).entries:
        assert entry.at >= at or entry.id in kept


@pytest.mark.parametrize("version", LAY_OUT)
def test_both_generations_of_a_recorded_conversation_tell_the_same(
    version: str, tmp_path: Path
) -> None:
    session = LAY_OUT[version](tmp_path / "main")[MAIN]
    found = profiled(Transcript(str(tmp_path / "main"), "openclaw", session))
    assert (found.usage.tokens, found.usage.window) == (9_050, 40_000)
    assert found.profile.answered == 50
    assert part(found, "summaries").count == 1


# Generated conversations


def measured(transcript: Transcript, first: int, step: int = 100) -> Transcript:
    """Give each answer in a file of Claude Code a usage, which rises with every one."""
    path = Path(transcript.path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    answers = [line["message"] for line in lines if line["type"] == "assistant"]
    for number, message in enumerate(answers):
        message["usage"] = {"input_tokens": first + number * step, "output_tokens": 10}
    write(path, lines)
    return transcript


def resting(transcript: Transcript, pauses: dict[int, float]) -> Transcript:
    """Let seconds pass before the lines with these numbers."""
    path, late, lines = Path(transcript.path), 0.0, []
    for number, text in enumerate(path.read_text().splitlines()):
        late += pauses.get(number, 0.0)
        lines.append(json.loads(text) | {"timestamp": timestamp(NOW + number + late)})
    write(path, lines)
    return transcript


def work(count: int, size: int) -> list[Said]:
    """One request, and so many calls with results of a size."""
    said: list[Said] = [("user", "Look at all of it.")]
    for number in range(count):
        said += [("call", f"c{number}", "read", f"/repo/{number}.py")]
        said += [("result", f"c{number}", "x" * size)]
    return [*said, ("agent", "All of it is fine.")]


def chat(count: int, size: int) -> list[Said]:
    """So many questions and answers of a size, without any tool."""
    return [one for i in range(count) for one in (("user", f"{i}?"), ("agent", "y" * size))]


@dialects
def test_work_with_tools_is_tool_heavy(tmp_path: Path, dialect: str) -> None:
    found = profiled(DIALECTS[dialect](tmp_path / "t.jsonl", work(12, 2_000)))
    assert found.pattern.name == TOOL_HEAVY
    assert counts(found) == {TOOL_RESULTS: 12, TOOL_CALLS: 12, USER_MESSAGES: 1, ANSWERS: 1}
    assert [tool.tool for tool in found.profile.tools] == ["read"]
    assert found.profile.share_of_tools == pytest.approx(1, abs=0.01)


@dialects
def test_a_chat_is_conversational(tmp_path: Path, dialect: str) -> None:
    found = profiled(DIALECTS[dialect](tmp_path / "t.jsonl", chat(8, 1_000)))
    assert found.pattern.name == CONVERSATIONAL
    assert found.profile.share_of_tools == 0
    assert found.profile.runway is None


@dialects
def test_both_in_turns_is_mixed(tmp_path: Path, dialect: str) -> None:
    said = [*chat(6, 1_000), *work(6, 1_000)]
    assert profiled(DIALECTS[dialect](tmp_path / "t.jsonl", said)).pattern.name == MIXED


@dialects
def test_incidents_between_long_rests_are_bursty(tmp_path: Path, dialect: str) -> None:
    said = [one for _ in range(3) for one in work(6, 800)]
    shift = 1 if dialect == "pi" else 0  # its first line is a header
    pauses = {len(work(6, 800)) * i + shift: 4 * 3_600.0 for i in (1, 2)}
    transcript = resting(DIALECTS[dialect](tmp_path / "t.jsonl", said), pauses)
    found = profiled(transcript)
    assert found.pattern.name == BURSTY
    assert found.pattern.evidence[0].startswith("3 bursts with 18 of 18 tool calls")
    assert profiled(DIALECTS[dialect](tmp_path / "again.jsonl", said)).pattern.name == TOOL_HEAVY


@dialects
def test_without_a_measure_all_is_a_range(tmp_path: Path, dialect: str) -> None:
    found = profiled(DIALECTS[dialect](tmp_path / "t.jsonl", work(12, 2_000)))
    assert found.usage.tokens is None
    assert found.profile.used.low < found.profile.used.high
    assert part(found, "baseline").source == RULE
    assert found.profile.runway is not None


def test_a_measure_tells_the_baseline_and_the_growth(tmp_path: Path) -> None:
    plain = DIALECTS["claude-code"](tmp_path / "t.jsonl", work(12, 2_000))
    found = profiled(measured(plain, 20_000, 600))
    baseline = part(found, "baseline")
    assert baseline.source == DEDUCED
    assert 19_900 < baseline.tokens.low <= baseline.tokens.high <= 20_010
    assert found.profile.used.low == 20_010 + 12 * 600
    runway = found.profile.runway
    assert runway is not None
    assert (runway.per_call.low, runway.per_call.high) == (422, 608)
    assert runway.from_calls == 12


def test_the_growth_is_that_since_the_last_compaction(tmp_path: Path) -> None:
    """Each call adds 5,000 tokens; the tenth is kept, and its usage is from before."""
    transcript = DIALECTS["pi"](tmp_path / "t.jsonl", work(20, 400))
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    calls = [line for line in lines if '"toolCall"' in json.dumps(line)]
    for number, line in enumerate(calls):
        tokens = 60_000 + 5_000 * number - (70_000 if number >= 10 else 0)
        line["message"]["usage"] = {"input": tokens, "output": 0, "totalTokens": tokens}
    at = lines.index(calls[10])
    summary = {"type": "compaction", "id": "c", "parentId": calls[10]["parentId"]}
    summary |= {"timestamp": lines[at]["timestamp"], "summary": "Read ten files."}
    summary |= {"firstKeptEntryId": calls[9]["id"], "tokensBefore": 110_000}
    calls[10]["parentId"] = "c"
    write(tmp_path / "t.jsonl", [*lines[:at], summary, *lines[at:]])
    found = profiled(transcript)
    assert found.usage.tokens == 85_000
    runway = found.profile.runway
    assert runway is not None
    assert runway.per_call.high == 5_000


def test_codex_tells_its_usages_in_lines_of_their_own(tmp_path: Path) -> None:
    """Of the recorded conversation up to its second usage: 20,050 tokens, then 85,050."""
    lines = RECORDED["codex"].read_bytes().splitlines(keepends=True)
    usages = [at for at, line in enumerate(lines) if b'"token_usage_record"' in line]
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(b"".join(lines[: usages[1] + 1]))
    found = profiled(recognise(str(path)))
    assert (found.profile.used.low, found.profile.answered) == (85_050, 50)
    baseline = part(found, "baseline")
    assert baseline.source == DEDUCED
    assert 19_000 < baseline.tokens.low <= baseline.tokens.high <= 20_050


def codex_work(
    calls: int, size: int, *, first: int = 20_000, said: str = "Look at all of it."
) -> list[Document]:
    """A turn of Codex's in which each call adds 1,000 tokens; counts come a step late."""

    def item(what: str, **more: Any) -> Document:
        return {"type": "response_item", "payload": {"type": what, **more}}

    content = [{"type": "input_text", "text": said}]
    lines = [item("message", role="user", id="m", content=content)]
    for number in range(calls):
        usage = {"input_tokens": first + 1_000 * number, "output_tokens": 50}
        usage["total_tokens"] = usage["input_tokens"] + 50
        count = {"type": "token_count", "info": {"last_token_usage": usage}}
        named = {"call_id": f"c{number}"}
        lines += [
            item("function_call", id=f"f{number}", name="exec_command", arguments="{}", **named),
            {"type": "token_usage_record", "payload": {"usage": usage}},
            item("function_call_output", id=f"o{number}", output="x" * size, **named),
            {"type": "event_msg", "payload": count},
        ]
    return lines


def codex(path: Path, *turns: list[Document]) -> Transcript:
    told = [line for turn in turns for line in turn]
    stamped = [{"timestamp": timestamp(NOW + at), **line} for at, line in enumerate(told)]
    header = {"timestamp": timestamp(NOW), "type": "session_meta", "payload": {"id": "s"}}
    return recognise(str(write(path, [header, *stamped])), "codex")


def test_codex_tells_the_growth_between_its_usages(tmp_path: Path) -> None:
    """The newest count says once more what was measured before the newest result."""
    found = profiled(codex(tmp_path / "t.jsonl", codex_work(12, 400))).profile
    assert (found.used.low, found.since) == (31_050, Range(83, 120))
    assert found.runway is not None
    assert (found.runway.per_call.high, found.runway.from_calls) == (1_000, 11)


def test_what_was_measured_of_a_turn_that_was_taken_back_tells_nothing(tmp_path: Path) -> None:
    """Its 60,000 characters were in the first request, and are in the context no more."""
    gone = {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}
    turns = [*codex_work(1, 10, first=35_000, said="x" * 60_000), gone], codex_work(12, 400)
    found = profiled(codex(tmp_path / "t.jsonl", *turns))
    baseline = part(found, "baseline")
    assert baseline.source == DEDUCED
    assert 19_900 < baseline.tokens.low <= baseline.tokens.high < 20_100


def test_what_follows_the_measure_is_not_in_it(tmp_path: Path) -> None:
    plain = DIALECTS["claude-code"](tmp_path / "t.jsonl", work(12, 2_000)[:-1])
    found = profiled(measured(plain, 20_000))
    assert part(found, TOOL_RESULTS).count == 11
    assert (found.profile.since.low, found.profile.since.high) == (416, 600)


def test_the_largest_results_say_what_they_are_of_without_secrets(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Ab1" * 30
    said = work(12, 100) + [
        ("call", "big", "bash", f"curl -H 'x-api-key: {key}' https://example.org/" + "a" * 200),
        ("result", "big", "z" * 9_000),
    ]
    found = profiled(DIALECTS["pi"](tmp_path / "t.jsonl", said)).profile
    first, *rest = found.largest
    assert (first.tool, first.characters) == ("bash", 9_000)
    assert first.given.startswith("curl -H")
    assert len(first.given) <= 80
    assert key[:30] not in first.given
    assert len(rest) == 9


@pytest.mark.parametrize("name", ["pi", "codex", "gemini", "opencode"])
def test_every_format_tells_what_was_given_to_a_call(name: str, tmp_path: Path) -> None:
    """Of the recorded conversation up to its compaction, which takes the calls away."""
    transcript = opened(RECORDED[name], tmp_path)
    story = list(find_format(name).entries(transcript))
    upto = next(at for at, entry in enumerate(story) if entry.kind == COMPACTION)
    found = given_in(transcript, story[:upto])
    assert len(found) >= 1
    assert all(found.values())


@pytest.mark.parametrize("version", LAY_OUT)
def test_both_generations_tell_what_was_given_to_a_call(version: str, tmp_path: Path) -> None:
    session = LAY_OUT[version](tmp_path / "main")[MAIN]
    transcript = Transcript(str(tmp_path / "main"), "openclaw", session)
    found = given_in(transcript, list(find_format("openclaw").entries(transcript)))
    assert "python3 hello.py" in found.values()


def given_in(transcript: Transcript, told: list[TranscriptEntry]) -> dict[str, str]:
    return {
        block.id: _given(transcript, entry.at, block.id, Redactor())
        for entry in told
        for block in entry.blocks
        if block.kind == CALL
    }


@dialects
def test_results_are_named_by_their_own_calls_where_ids_come_again(
    tmp_path: Path, dialect: str
) -> None:
    """As of models that count calls anew in every answer, and of a result whose call has none."""
    said: list[Said] = [("user", "go")]
    for number in range(3):
        said += [("call", "call_1", f"tool{number}", f"/{number}.py")]
        said += [("result", "call_1", "x" * (100 - number))]
    told = DIALECTS[dialect](tmp_path / "t.jsonl", [*said, ("result", "", "y" * 9)])
    found = [(each.tool, each.given) for each in profiled(told).profile.largest[:3]]
    assert found == [(f"tool{number}", f"/{number}.py") for number in range(3)]
    assert profiled(told).profile.largest[3].given == ""


def test_failed_calls_are_counted_by_tool(tmp_path: Path) -> None:
    found = profiled(DIALECTS["pi"](tmp_path / "t.jsonl", turns(8))).profile
    assert {tool.tool: (tool.calls, tool.failed) for tool in found.tools} == {
        "read": (8, 0),
        "edit": (8, 2),
    }


def test_thinking_is_a_component_of_its_own(tmp_path: Path) -> None:
    parts = [user("why?"), agent("because", thinking="t" * 400)]
    path = write(tmp_path / "t.jsonl", claude_code_lines(parts))
    found = part(profiled(recognise(str(path))), THOUGHTS)
    assert (found.count, found.tokens.low, found.tokens.high) == (1, 83, 120)


def test_hidden_thinking_is_shown_without_a_number(tmp_path: Path) -> None:
    documents = claude_code_lines([user("why?"), agent("because", thinking="t")])
    for document in documents:
        for block in document["message"]["content"]:
            if isinstance(block, dict) and "thinking" in block:
                block["thinking"] = ""
    path = write(tmp_path / "t.jsonl", documents)
    [line] = [each for each in lines_of(ran(str(path))) if each.startswith("thinking")]
    assert line.split() == ["thinking", "(1)", "hidden", "by", "the", "host"]


def test_a_sub_agents_own_transcript_is_its_context(tmp_path: Path) -> None:
    found = profiled(opened(CLAUDE_CODE / "transcript.subagent.jsonl", tmp_path))
    assert counts(found) == {"user messages": 1, "answers": 4, "tool calls": 3, "tool results": 3}


def test_a_sub_agents_part_of_a_conversation_is_nobodys_context(tmp_path: Path) -> None:
    aside = opened(CLAUDE_CODE / "transcript.subagent.jsonl", tmp_path).path
    main = claude_code_lines([user("why?"), agent("because")])
    lines = [json.loads(line) for line in Path(aside).read_text().splitlines()]
    path = write(tmp_path / "both.jsonl", [*main, *lines])
    assert counts(profiled(recognise(str(path)))) == {"user messages": 1, "answers": 1}


# The story that entries tell


def test_rests_divide_a_conversation_into_stretches() -> None:
    teller = Teller()
    for number, entry in enumerate(entries(work(4, 10))):
        teller.take(entry.replace(time=NOW + number * 10 + 1_800 * (number > 4)))
    story = teller.story()
    assert story.stretches == (Stretch(40, 2), Stretch(40, 2))
    assert story.rest_seconds == 1_810


def test_just_below_half_an_hour_is_no_rest() -> None:
    teller = Teller()
    for number, entry in enumerate(entries(work(1, 10))):
        teller.take(entry.replace(time=NOW + number * 1_799))
    assert len(teller.story().stretches) == 1


def test_times_that_go_back_are_no_rest() -> None:
    teller = Teller()
    for number, entry in enumerate(entries(work(4, 10))):
        teller.take(entry.replace(time=NOW - number * 10_000))
    assert teller.story().rest_seconds == 0
    assert teller.story().stretches == (Stretch(0, 4),)


said = st.lists(
    st.one_of(
        st.tuples(st.just("user"), st.text()),
        st.tuples(st.just("agent"), st.text()),
        st.tuples(st.just("call"), st.text(max_size=3), st.text(max_size=3)),
        st.tuples(st.sampled_from(["result", "failed"]), st.text(max_size=3), st.text()),
    )
)


@given(said, st.integers(1, 5))
def test_nothing_is_counted_twice_or_not_at_all(parts: list[Said], most: int) -> None:
    told = entries(parts)
    assert sum(each.characters for each in tally(told).values()) == sum(e.size for e in told)
    thin = thinned(told)
    assert tally(thin.entries) == tally(told)
    few = thinned(told, most)
    assert len(few.entries) == min(most, len(told))
    assert few.left_out == len(told) - len(few.entries)


@pytest.mark.parametrize(
    "changes",
    [
        {"kept": ("4", "5")},
        {"kept": ("2", "6"), "keeps_between": True},
        {"kept": ("gone", "6"), "keeps_between": True},
        {"kept": ("3",), "keeps_on": True},
        {"kept": ()},
    ],
    ids=["a list", "from one to another", "one of them gone", "from one on", "nothing"],
)
def test_whatever_a_compaction_keeps_sizes_alone_tell_it(changes: dict[str, Any]) -> None:
    """Each entry follows the one before; the summary stands behind the compaction."""
    told = [
        entry.replace(id=str(at), parent=str(at - 1), at=at, end=at + 1)
        for at, entry in enumerate([*entries(work(4, 10)), *entries(chat(3, 10))])
    ]
    told[8] = told[8].replace(kind=COMPACTION, role="", blocks=(), **changes)
    told[9] = told[9].replace(by_host=True)
    whole, thin = context_of(told), context_of(thinned(told).entries)
    assert [entry.id for entry in whole.entries] == [entry.id for entry in thin.entries]
    assert (whole.summary, whole.compactions) == (thin.summary, thin.compactions)


def test_a_message_counts_once_however_many_texts_it_has() -> None:
    texts = tuple(Block.saying(TEXT, at, "abc") for at in range(2))
    thought = Block.saying(THINKING, 2, "hm")
    [told] = entries([("agent", "")])
    found = tally([told.replace(blocks=(texts[0], thought, texts[1]))])
    assert found == {ANSWERS: Tally(1, 6), THOUGHTS: Tally(1, 2)}


def test_what_the_host_says_in_the_users_name_is_its_own() -> None:
    told = [entry.replace(by_host=True) for entry in entries([("user", "a note")])]
    assert tally(told).keys() == {HOST_NOTES}


# What is none


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"{}\n", b"not json\n" * 20, b'{"type":"user"', b"[1]\n", b"\x00\xff" * 50],
    ids=["empty", "blank", "nothing", "no json", "torn", "no object", "bytes"],
)
@pytest.mark.parametrize("name", ["claude-code", "pi", "codex", "gemini"])
def test_what_holds_no_conversation_is_too_little_to_say(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    found = profiled(recognise(str(path), name))
    assert found.pattern.name == UNKNOWN
    assert found.profile.share_of_tools is None
    assert found.profile.runway is None
    assert not found.profile.tools
    assert found.usage.tokens is None


def test_a_file_in_which_nothing_is_said_is_no_success(tmp_path: Path) -> None:
    transcript = DIALECTS["claude-code"](tmp_path / "t.jsonl", work(3, 100))
    done = CliRunner().invoke(app, ["profile", transcript.path, "--format", "pi"])
    assert isinstance(done.exception, GitguardError)
    assert "Context:" not in done.output


def test_broken_lines_and_a_torn_end_are_counted(tmp_path: Path) -> None:
    transcript = measured(DIALECTS["claude-code"](tmp_path / "t.jsonl", work(3, 100)), 20_000)
    assert profiled(transcript).profile.notes == ()
    path = Path(transcript.path)
    path.write_bytes(b"garbage{{{\n" + path.read_bytes() + b'{"type":"user"')
    assert profiled(transcript).profile.notes == ("2 broken entries are skipped",)


@dialects
def test_what_stands_before_a_broken_line_is_counted(tmp_path: Path, dialect: str) -> None:
    transcript = DIALECTS[dialect](tmp_path / "t.jsonl", work(20, 1_000))
    whole = counts(profiled(transcript))
    path = Path(transcript.path)
    lines = path.read_bytes().splitlines(keepends=True)
    result = next(n for n in range(len(lines) // 2, len(lines)) if b"x" * 1_000 in lines[n])
    lines[result] = lines[result][:50] + b"\n"
    path.write_bytes(b"".join(lines))
    found = profiled(transcript)
    assert counts(found) == {**whole, TOOL_RESULTS: whole[TOOL_RESULTS] - 1}
    assert found.profile.notes == ("1 broken entry is skipped",)


def test_usage_without_times_is_said_to_be_of_no_use(tmp_path: Path) -> None:
    transcript = measured(DIALECTS["claude-code"](tmp_path / "t.jsonl", work(3, 100)), 20_000)
    path = Path(transcript.path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    write(path, [{k: v for k, v in line.items() if k != "timestamp"} for line in lines])
    found = profiled(transcript)
    assert found.usage.tokens is None
    assert "no times" in found.profile.notes[0]


def test_more_than_the_window_raises_it_as_the_gate_does(tmp_path: Path) -> None:
    transcript = measured(DIALECTS["claude-code"](tmp_path / "t.jsonl", work(3, 100)), 260_000)
    shown = CliRunner().invoke(app, ["profile", transcript.path]).output
    assert "of 400,000 tokens, 65.1 % of the window" in shown
    assert "window: assumed, raised: set `window.models." in shown


@dialects
def test_two_messages_are_too_little_to_say(tmp_path: Path, dialect: str) -> None:
    found = profiled(DIALECTS[dialect](tmp_path / "t.jsonl", [("user", "hi"), ("agent", "ho")]))
    assert found.pattern.name == UNKNOWN
    assert found.pattern.evidence == ("not enough to tell: 1 user message, 1 answer, 0 tool calls",)
    assert counts(found) == {USER_MESSAGES: 1, ANSWERS: 1}


@dialects
def test_a_torn_last_line_costs_only_itself(tmp_path: Path, dialect: str) -> None:
    transcript = DIALECTS[dialect](tmp_path / "t.jsonl", work(12, 2_000))
    path = Path(transcript.path)
    path.write_bytes(path.read_bytes()[:-40])
    found = profiled(transcript)
    assert counts(found) == {TOOL_RESULTS: 12, TOOL_CALLS: 12, USER_MESSAGES: 1}
    assert found.pattern.name == TOOL_HEAVY


def test_a_result_without_its_call_is_of_no_named_tool(tmp_path: Path) -> None:
    transcript = DIALECTS["claude-code"](tmp_path / "t.jsonl", [("result", "gone", "x" * 400)])
    found = profiled(transcript).profile
    assert [(tool.tool, tool.calls) for tool in found.tools] == [("", 0)]
    assert [(each.tool, each.given) for each in found.largest] == [("", "")]


def test_a_file_of_nobody_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("just some notes\n")
    with pytest.raises(InvalidDocument, match="no transcript format"):
        recognise(str(path))


LINES = ["claude-code", "claude-code, compacted by itself", "codex", "gemini", "pi"]


@pytest.mark.parametrize("name", LINES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_however_damaged_a_file_is_its_profile_holds_together(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    """Lines are lost, doubled, moved, torn, or have a number where a text was."""
    lines = RECORDED[name].read_bytes().splitlines(keepends=True)
    places = st.integers(0, len(lines) - 1)
    for at, what in data.draw(st.lists(st.tuples(places, st.integers(0, 4)), max_size=6)):
        line = lines[at % len(lines)]
        lines[at % len(lines)] = [
            b"",
            line * 2,
            lines[0],
            line[: len(line) // 2] + b"\n",
            line.replace(b'": "', b'": 7, "x": "', 3),
        ][what]
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(lines))
    found = profiled(Transcript(str(path), name.partition(",")[0]))
    total = sum(each.tokens.low for each in found.profile.components)
    for each in found.profile.components:
        assert 0 <= each.tokens.low <= each.tokens.high
    if found.usage.tokens is None:
        assert found.profile.used.low == total
    elif not found.profile.notes:
        assert total <= found.usage.tokens
    if found.profile.runway is not None:
        assert 0 <= found.profile.runway.calls.low <= found.profile.runway.calls.high


# In little memory


def test_a_long_conversation_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    """Four times as long a file, both longer than what is kept of one."""
    program = (
        "from gitguard.model.config.config import DEFAULTS\n"
        "from gitguard.model.redaction.redactor import Redactor\n"
        "from gitguard.transcripts.formats.recognition import recognise\n"
        "from gitguard.profile.profiling import profile_of\n"
        "found = profile_of(recognise(sys.argv[1]), DEFAULTS, Redactor())\n"
        "assert found.profile.notes[0].endswith('they would not fit in a window')\n"
    )
    short, long = tmp_path / "short.jsonl", tmp_path / "long.jsonl"
    lines = Path(DIALECTS["claude-code"](tmp_path / "part.jsonl", work(2_200, 500)).path)
    for path, times in ((short, 10), (long, 40)):
        with path.open("wb") as file:
            file.writelines([lines.read_bytes()] * times)
    assert peak_megabytes(program, str(long)) < peak_megabytes(program, str(short)) * 1.2


# The command


def invoked(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(app, arguments, **options)


def ran(*arguments: str, **options: Any) -> Result:
    return invoked("profile", *arguments, **options)


def lines_of(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


@recorded
def test_the_command_speaks_to_people_and_programs(path: Path, tmp_path: Path) -> None:
    transcript = opened(path, tmp_path)
    name = ("--format", transcript.format)
    first = lines_of(ran(transcript.path, *name))[0]
    document = json.loads(ran(transcript.path, *name, "--json").output)
    assert first.startswith(f"Context: {document['used']['low']:,} of ")
    assert document["used_source"] == "measured"
    assert {"components", "tools", "largest", "runway", "pattern", "usage", "spiral"} <= set(
        document
    )


def test_the_page_names_every_member_for_programs(tmp_path: Path) -> None:
    path = measured(DIALECTS["claude-code"](tmp_path / "t.jsonl", work(12, 2_000)), 20_000).path
    document = json.loads(ran(path, "--json").output)
    usage = document.pop("usage").keys()
    assert members(document) <= named_on_the_page() | {"low", "high"}
    assert json.loads(invoked("transcript", "usage", path, "--json").output).keys() >= usage


def test_a_bar_is_as_long_as_the_terminal_lets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = DIALECTS["pi"](tmp_path / "t.jsonl", work(12, 2_000)).path

    def bars(columns: int) -> list[int]:
        monkeypatch.setenv("COLUMNS", str(columns))
        found = [line.count("█") + line.count("░") for line in lines_of(ran(path))]
        return [length for length in found if length]

    assert 4 <= max(bars(70)) < max(bars(80)) < max(bars(90)) <= 40
    assert max(bars(300)) == 40
    assert max(bars(50)) > max(bars(70)), "the numbers are below"


def test_no_component_is_wider_than_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = DIALECTS["claude-code"](tmp_path / "t.jsonl", work(300, 1_200))
    measured(transcript, 190_000)
    for columns in (60, 70, 80, 90, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        shown = "\n".join(lines_of(ran(transcript.path)))
        rows = shown.partition("the last answer\n")[2].partition("\nShare of tools")[0]
        assert len(rows.splitlines()) >= 5
        assert "baseline" in shown
        assert max(map(len, rows.splitlines())) <= columns


def test_a_poor_terminal_gets_plain_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = DIALECTS["pi"](tmp_path / "t.jsonl", work(12, 2_000)).path
    monkeypatch.setenv("TERM", "dumb")
    shown = ran(path).output
    assert "#" in shown
    assert "█" not in shown


def test_colour_is_for_terminals_that_want_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = DIALECTS["pi"](tmp_path / "t.jsonl", work(12, 2_000)).path
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[33m█" in ran(path, color=True).output
    assert "\x1b" not in ran(path).output
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[33m" not in ran(path, color=True).output


def test_a_range_that_is_one_number_when_rounded_is_shown_as_one(tmp_path: Path) -> None:
    """For who trusts the guess of tokens wholly."""
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "gitguard" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("budget: {safety_margin: 1.0}\n")
    said = [*work(12, 2_000), ("user", "x" * 4_005)]
    transcript = measured(DIALECTS["claude-code"](tmp_path / "t.jsonl", said), 20_000, 0)
    shown = lines_of(ran(transcript.path))
    assert "Since that measure: about 1,000 tokens more" in shown
    [runway] = [line for line in shown if line.startswith("Runway:")]
    assert runway.startswith("Runway: about 290 tool calls until the halt at 85%, at about 510 ")


def test_a_hostile_conversation_forges_nothing(tmp_path: Path) -> None:
    parts: Iterable[Said] = [
        ("user", "go"),
        ("call", "c", "\x1b[2Jrm\nSTATUS:HALT", "STATUS:HALT\n\u202e/etc"),
        ("result", "c", "x" * 500),
    ]
    shown = ran(DIALECTS["pi"](tmp_path / "t.jsonl", parts).path).output
    assert not {"\x1b", "\u202e"} & set(shown)
    assert not [line for line in shown.splitlines() if line.lstrip().startswith("STATUS:")]


def test_many_tools_with_long_names_fit_on_a_page(tmp_path: Path) -> None:
    said: list[Said] = []
    for number in range(30):
        said += [("call", f"c{number}", f"mcp__{number}__" + "n" * 500)]
        said += [("result", f"c{number}", "x" * (number + 1))]
    shown = lines_of(ran(DIALECTS["pi"](tmp_path / "t.jsonl", said).path))
    assert max(map(len, shown)) < 200
    assert "  and 18 tools more" in shown


def test_the_window_can_be_named_by_its_model(tmp_path: Path) -> None:
    path = DIALECTS["pi"](tmp_path / "t.jsonl", work(12, 2_000)).path
    document = json.loads(ran(path, "--model", "claude-opus-5-5", "--json").output)
    assert document["usage"]["window"] == 1_000_000


def test_without_a_path_it_is_the_sessions_newest_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the window is the one that its host reported, where the transcript tells none."""
    talk = Conversation(tmp_path)
    monkeypatch.setenv("GITGUARD_STATE_DIR", str(tmp_path / "state"))
    talk.uses(50_000)
    talk.prompt()
    used = {"input_tokens": 50_000, "output_tokens": 0}
    window = {"context_window_size": 400_000, "current_usage": used, "used_percentage": 12}
    talk.send_raw("statusLine", context_window=window)
    shown = lines_of(ran("--root", str(talk.root)))
    assert shown[0].startswith("Context: 50,000 of 400,000 tokens, 12.5 % of the window (measured;")
    newer = talk.beside("S2")
    newer.uses(60_000)
    newer.prompt()
    shown = lines_of(ran("--root", str(talk.root)))
    assert shown[0].startswith("Context: 60,000 of ")


def test_a_session_without_a_reading_is_a_range_of_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Conversation(tmp_path)
    monkeypatch.setenv("GITGUARD_STATE_DIR", str(tmp_path / "state"))
    talk.transcript.write_text("")
    talk.prompt()
    shown = lines_of(ran("--root", str(talk.root)))
    assert shown[0].startswith("Context: 10,000–30,000 of 200,000 tokens, 5–15 % of the window (")
    assert shown[-1] == "  not enough to tell: 0 user messages, 0 answers, 0 tool calls"


def test_a_session_without_a_conversation_says_what_to_name(repo: Path) -> None:
    at = ("--root", str(repo))
    CliRunner().invoke(app, [*at, "ensure"], catch_exceptions=False)
    with pytest.raises(InvalidInput, match="no conversation of this session has a transcript"):
        ran(*at, catch_exceptions=False)


@pytest.mark.parametrize("minutes", [90, 150])
def test_a_conversation_tells_how_many_hours_it_has_gone_on(tmp_path: Path, minutes: int) -> None:
    lines: list[dict[str, Any]] = []
    for number in range(4):
        at = timestamp(NOW + number * minutes * 20)
        said = {"role": "user", "content": [{"type": "text", "text": "go on"}]}
        parent = f"u{number - 1}" if number else None
        lines.append({"type": "message", "id": f"u{number}", "parentId": parent, "timestamp": at})
        lines[-1]["message"] = said
    header = {"type": "session", "version": 3, "id": "s", "timestamp": timestamp(NOW)}
    path = write(tmp_path / "t.jsonl", [header, *lines])
    assert profiled(recognise(str(path))).hours * 60 == pytest.approx(minutes)


def test_a_spiral_and_a_note_are_said(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = []
    parent = None
    for number in range(5):
        lines.append({"type": "message", "id": f"u{number}", "parentId": parent})
        lines[-1]["message"] = {"role": "user", "content": [{"type": "text", "text": "go on"}]}
        kept = {"firstKeptEntryId": f"u{number}", "summary": f"s{number}"}
        lines.append({"type": "compaction", "id": f"c{number}", "parentId": f"u{number}", **kept})
        parent = f"c{number}"
    header = {"type": "session", "version": 3, "id": "s", "timestamp": timestamp(NOW)}
    path = write(tmp_path / "t.jsonl", [header, *lines])
    assert "5 compactions: start a new conversation" in ran(str(path)).output


@pytest.mark.parametrize("broken", ["missing.jsonl", "."])
def test_what_does_not_read_is_an_error_that_says_so(tmp_path: Path, broken: str) -> None:
    with pytest.raises(GitguardError):
        ran(str(tmp_path / broken), catch_exceptions=False)


def test_the_page_tells_what_happens(tmp_path: Path) -> None:
    root, home = tmp_path / "repo", tmp_path / "home"
    make_repository(root, home)
    shell("gitguard ensure", root, home)
    measured(DIALECTS["claude-code"](root / "work.jsonl", work(12, 2_000)), 20_000, 600)
    check_console(Path(__file__).parents[2] / "references" / "guides" / "profile.md", root, home)
