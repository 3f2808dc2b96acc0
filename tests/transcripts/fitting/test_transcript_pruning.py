"""Pruning: old, oversized results of tools are trimmed or cleared, and nothing else is touched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from string import ascii_letters, digits
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from gitguard.cli.app import app
from gitguard.compaction.pruning import Pruned, plan, prune
from gitguard.errors import InvalidInput, Locked
from gitguard.model.config.config import DEFAULTS, Config
from gitguard.model.config.transcripts import PruningConfig
from gitguard.model.conversation import RESULT
from gitguard.model.events import Transcript
from gitguard.model.redaction.redactor import Redactor
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.pruning import CLEAR, KEEP, TRIM, judge, pruned
from tests.support.openclaw_sessions import LAY_OUT, MAIN, change
from tests.support.other_programs import opened
from tests.support.spoken import DIALECTS, NOW, Said, entries

LATER = NOW + 10_000
PLENTY = 10**9
LARGE = "BEGIN" + "x" * 60_000 + "END"
SMALL = PruningConfig(min_characters=1_000, head_characters=100, tail_characters=50)
AFTER: list[Said] = [
    *(("agent", "1"), ("user", "go on"), ("agent", "2"), ("user", "and on"), ("agent", "3")),
    *(("agent", "still 3"), ("user", "go on"), ("agent", "4")),
]
"""What makes the results before it old: three exchanges."""


def call(id_: str, text: str = LARGE, tool: str = "bash") -> list[Said]:
    return [("call", id_, tool), ("result", id_, text)]


TALK: list[Said] = [("user", "hi"), *call("a"), *call("b"), *AFTER]


def judged(
    said: list[Said], now: float = LATER, room: int = PLENTY, **settings: Any
) -> list[tuple[str, str]]:
    config = PruningConfig(**settings)
    return [(v.action, v.reason) for v in judge(entries(said), config, now=now, room=room)]


# Verdicts


def test_old_and_large_results_are_trimmed() -> None:
    assert judged(TALK) == [(TRIM, "it is old and large")] * 2


def test_nothing_is_pruned_while_the_conversation_is_at_work() -> None:
    newest = NOW + len(TALK) - 1
    assert judged(TALK, now=newest + 299)[0] == (KEEP, "something was said 299 s ago")
    assert judged(TALK, now=newest + 300)[0][0] == TRIM
    assert judged(TALK, now=newest - 50)[0] == (KEEP, "something was said 0 s ago")
    assert judged(TALK, now=newest, idle_seconds=0)[0][0] == TRIM


def test_the_last_exchanges_are_protected() -> None:
    reason = "it belongs to the last 4 exchanges"
    talk = [("user", "hi"), *call("a"), ("user", "again"), *call("b"), *AFTER]
    assert judged(talk, keep_exchanges=4) == [(TRIM, "it is old and large"), (KEEP, reason)]
    assert [action for action, _ in judged(talk, keep_exchanges=99)] == [KEEP, KEEP]
    assert [action for action, _ in judged(talk[:-8], keep_exchanges=0)] == [TRIM, TRIM]


def test_to_keep_one_exchange_protects_the_one_that_is_running() -> None:
    """However many answers, calls and results a prompt led to."""
    running: list[Said] = [("user", "now this"), *call("b"), *call("c"), ("agent", "so far")]
    talk = [("user", "hi"), *call("a"), ("agent", "done"), *running, *call("d")]
    assert [action for action, _ in judged(talk, keep_exchanges=1)] == [TRIM, KEEP, KEEP, KEEP]
    assert [action for action, _ in judged(talk, keep_exchanges=2)] == [KEEP] * 4
    assert [action for action, _ in judged(running, keep_exchanges=1)] == [KEEP, KEEP]


def test_what_a_host_says_in_the_users_name_begins_no_exchange() -> None:
    talk = entries([("user", "hi"), *call("a"), ("user", "a note"), ("agent", "done")])
    talk[3] = talk[3].replace(by_host=True)
    (verdict,) = judge(talk, PruningConfig(keep_exchanges=1), now=LATER, room=PLENTY)
    assert verdict.action == KEEP


def test_messages_of_the_user_that_follow_one_another_begin_one_exchange() -> None:
    talk = [("user", "hi"), *call("a"), ("user", "and"), ("user", "more"), ("agent", "x")]
    assert [a for a, _ in judged(talk, keep_exchanges=2)] == [KEEP]
    assert [a for a, _ in judged(talk, keep_exchanges=1)] == [TRIM]


def test_smaller_results_are_not_looked_at() -> None:
    talk = [*call("a", "x" * 50_000), *call("b", "x" * 50_001), *AFTER]
    assert len(judged(talk)) == 1
    assert len(judged(talk, min_characters=10_000)) == 2
    assert judged([*call("a", "x" * 3_250), *AFTER], min_characters=0) == []


def test_the_results_of_protected_tools_stay() -> None:
    talk = [*call("a", tool="Browser"), *call("b", tool="my_canvas_2"), *AFTER]
    assert judged(talk)[0] == (KEEP, "`Browser` is protected")
    assert judged(talk)[1][0] == TRIM
    assert [a for a, _ in judged(talk, protected_tools=("*",))] == [KEEP, KEEP]
    assert judged(talk, protected_tools=("*canvas*",))[1][0] == KEEP


@pytest.mark.parametrize(
    ("tool", "is_kept"),
    [
        ("mcp__x__canvas", True),
        ("mcp__Browser__click", True),
        ("x__canvas", True),
        ("mcp__x__canvas_2", False),
        ("mcp__x__read", False),
        ("bash", False),
    ],
)
def test_a_tool_of_an_mcp_server_is_protected_by_its_name_or_the_servers(
    tool: str, is_kept: bool
) -> None:
    talk = [("user", "hi"), *call("a", tool=tool), *AFTER]
    assert judged(talk)[0][0] == (KEEP if is_kept else TRIM)
    assert judged(talk, protected_tools=("mcp__x__*",))[0][0] == (
        KEEP if tool.startswith("mcp__x__") else TRIM
    )


def test_a_result_with_images_stays() -> None:
    found = entries(TALK)
    first, second = judge(
        found, PruningConfig(), now=LATER, room=PLENTY, pictured=frozenset({(2, 0)})
    )
    assert (first.action, first.reason) == (KEEP, "it holds images")
    assert second.action == TRIM


def test_while_the_history_is_over_its_share_the_oldest_are_cleared_whole() -> None:
    assert [action for action, _ in judged(TALK, room=0)] == [CLEAR, CLEAR]
    assert [action for action, _ in judged(TALK, room=1_000)] == [CLEAR, TRIM]
    assert [action for action, _ in judged(TALK, room=0, clear=False)] == [TRIM, TRIM]


def test_an_empty_conversation_has_no_verdicts() -> None:
    assert judge([], PruningConfig(), now=LATER, room=0) == ()


results = st.lists(
    st.tuples(st.integers(0, 6_000), st.sampled_from(["bash", "browser", "read"])), max_size=8
)


@given(results, st.integers(0, 5), st.integers(0, 4_000), st.booleans())
def test_pruning_twice_is_pruning_once(
    sizes: list[tuple[int, str]], keep: int, room: int, clear: bool
) -> None:
    said: list[Said] = [("user", "hi")]
    for i, (size, tool) in enumerate(sizes):
        said += call(str(i), "x" * size, tool)
    config = SMALL.replace(keep_exchanges=keep, clear=clear)
    texts = {place: one[2] for place, one in enumerate(said) if one[0] == "result"}
    for verdict in judge(entries(said), config, now=LATER, room=room):
        if verdict.action == KEEP:
            continue
        text = pruned(verdict, texts[verdict.at], config, str)
        assert len(text) == verdict.left < verdict.characters
        said[verdict.at] = ("result", said[verdict.at][1], text)
    again = judge(entries(said), config, now=LATER, room=room)
    assert all(verdict.action == KEEP for verdict in again)


# Files


def prune_it(transcript: Transcript, config: Config = DEFAULTS) -> Pruned:
    return prune(transcript, config, lambda: LATER, Redactor().text)


def texts_of(transcript: Transcript) -> list[str]:
    found = find_format(transcript.format).entries(transcript)
    return [block.text for entry in found for block in entry.blocks if block.kind == RESULT]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_files_results_are_trimmed_and_its_original_is_kept(tmp_path: Path, dialect: str) -> None:
    transcript = DIALECTS[dialect](tmp_path / "talk.jsonl", TALK)
    before = Path(transcript.path).read_bytes()
    done = prune_it(transcript)
    assert Path(done.backup).read_bytes() == before
    assert Path(done.backup).name.startswith("talk.jsonl.bak-")
    for text in texts_of(transcript):
        assert text.startswith("BEGIN" + "x" * 1_495 + "\n[gitguard: 57,008 characters left out]\n")
        assert text.endswith("x" * 1_497 + "END")
    assert [v.left for v in done.verdicts] == [len(text) for text in texts_of(transcript)]
    assert done.tokens_saved == 2 * (len(LARGE) // 4 - len(texts_of(transcript)[0]) // 4)
    lines = Path(transcript.path).read_bytes().splitlines()
    changed = [a != b for a, b in zip(before.splitlines(), lines, strict=True)]
    assert sum(changed) == 2


def test_the_hosts_own_copy_of_a_trimmed_result_goes_and_others_stay(tmp_path: Path) -> None:
    said = [("user", "hi"), *call("a"), *call("b"), *call("small", "short"), *AFTER]
    transcript = DIALECTS["claude-code"](tmp_path / "talk.jsonl", said)
    path = Path(transcript.path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    results = [line for line in lines if "tool_result" in json.dumps(line)]
    for line in results:
        line["toolUseResult"] = {"stdout": line["message"]["content"][0]["content"]}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert len(prune_it(transcript).changed) == 2
    after = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["toolUseResult"]["stdout"] for line in after if "toolUseResult" in line] == [
        "short"
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_second_run_finds_nothing_and_touches_nothing(tmp_path: Path, dialect: str) -> None:
    transcript = DIALECTS[dialect](tmp_path / "talk.jsonl", TALK)
    prune_it(transcript)
    after = Path(transcript.path).read_bytes(), sorted(tmp_path.iterdir())
    again = prune_it(transcript)
    assert (again.verdicts, again.backup) == ((), "")
    assert (Path(transcript.path).read_bytes(), sorted(tmp_path.iterdir())) == after


def test_a_cleared_result_says_what_it_was(tmp_path: Path) -> None:
    many = [said for i in range(12) for said in call(str(i))]
    transcript = DIALECTS["claude-code"](tmp_path / "talk.jsonl", [*many, *AFTER])
    config = DEFAULTS.replace(
        window=DEFAULTS.window.replace(cap=16_000),
        budget=DEFAULTS.budget.replace(history_share=0.01),
    )
    done = prune_it(transcript, config)
    assert done.room == 160, "no result fits into so small a share"
    assert {verdict.action for verdict in done.verdicts} == {CLEAR}
    assert set(texts_of(transcript)) == {
        "[gitguard: 60,008 characters of `bash` cleared; run the tool again to see them]"
    }


def test_a_secret_is_taken_out_before_it_could_be_cut_in_two(tmp_path: Path) -> None:
    secret = "ghp_" + "".join(Random(3).choices(ascii_letters + digits, k=36))
    text = "x" * 1_480 + f" {secret} " + "y" * 60_000
    transcript = DIALECTS["pi"](tmp_path / "talk.jsonl", [*call("a", text), *AFTER])
    prune_it(transcript)
    (left,) = texts_of(transcript)
    assert not any(secret[i : i + 8] in left for i in range(len(secret) - 8))


def test_what_a_compaction_put_away_is_not_looked_at(tmp_path: Path) -> None:
    transcript = DIALECTS["pi"](tmp_path / "talk.jsonl", [*TALK, ("user", "and now?")])
    last = json.loads(Path(transcript.path).read_text().splitlines()[-1])
    compaction = {
        "type": "compaction",
        "id": "c0",
        "parentId": last["id"],
        "summary": "All went well",
    }
    compaction |= {"firstKeptEntryId": last["id"], "timestamp": last["timestamp"]}
    with open(transcript.path, "a") as opened:
        opened.write(json.dumps(compaction) + "\n")
    assert plan(transcript, DEFAULTS, LATER).verdicts == ()


def test_a_plan_changes_nothing(tmp_path: Path) -> None:
    transcript = DIALECTS["pi"](tmp_path / "talk.jsonl", TALK)
    before = Path(transcript.path).read_bytes()
    planned = plan(transcript, DEFAULTS, LATER)
    assert planned.changed
    assert Path(transcript.path).read_bytes() == before
    assert list(tmp_path.iterdir()) == [Path(transcript.path)]


def test_a_transcript_that_is_read_only_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="only reads"):
        prune_it(Transcript(str(tmp_path / "x.jsonl"), "codex", "x"))


def test_a_file_that_another_process_writes_to_is_left_alone(tmp_path: Path) -> None:
    transcript = DIALECTS["pi"](tmp_path / "talk.jsonl", TALK)
    before = Path(transcript.path).read_bytes()
    with opened(transcript.path) as writer, pytest.raises(Locked, match=str(writer)):
        prune_it(transcript)
    assert Path(transcript.path).read_bytes() == before


def test_lines_that_do_not_parse_are_copied_as_they_are(tmp_path: Path) -> None:
    transcript = DIALECTS["pi"](tmp_path / "talk.jsonl", TALK)
    path = Path(transcript.path)
    lines = path.read_bytes().splitlines(keepends=True)
    junk = [b"\0" * 100 + b"\n", b"\xff\xfe\r\n", b"[" * 100_000 + b"\n", b"12\n", b"\n"]
    junk += [b'{"type":"' + b"x" * 1_000_000 + b'"}\n']
    path.write_bytes(b"".join([*lines[:3], *junk, *lines[3:], b'{"type":"mess']))
    assert len(prune_it(transcript).changed) == 2
    after = path.read_bytes()
    assert b"".join(junk) in after
    assert after.endswith(b'{"type":"mess')


texts = st.text(max_size=40).map(lambda text: text * 60)
spoken = st.lists(
    st.one_of(
        st.tuples(st.just("user"), texts),
        st.tuples(st.just("agent"), texts),
        st.tuples(st.just("call"), st.sampled_from("abc"), st.sampled_from(["bash", "canvas"])),
        st.tuples(st.just("result"), st.sampled_from("abc"), texts),
    ),
    max_size=12,
)


@given(spoken, st.sampled_from(sorted(DIALECTS)), st.integers(0, 3))
def test_whatever_was_said_only_results_change_and_only_once(
    tmp_path_factory: pytest.TempPathFactory, said: list[Said], dialect: str, keep: int
) -> None:
    transcript = DIALECTS[dialect](tmp_path_factory.mktemp("talk") / "talk.jsonl", said)
    config = DEFAULTS.replace(pruning=SMALL.replace(keep_exchanges=keep))
    before = Path(transcript.path).read_bytes().splitlines(keepends=True)
    done = prune_it(transcript, config)
    after = Path(transcript.path).read_bytes().splitlines(keepends=True)
    starts = {sum(map(len, before[:i])) for i, line in enumerate(before) if line not in after}
    assert starts <= {verdict.at for verdict in done.changed}
    assert len(after) == len(before)
    assert done.tokens_saved >= 0
    again = prune_it(transcript, config)
    assert (again.changed, again.backup) == ((), "")
    assert Path(transcript.path).read_bytes().splitlines(keepends=True) == after


class Crashed(BaseException):
    """What a test raises in the middle of writing."""


def test_a_crash_at_any_step_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    steps: list[str] = []
    whole = DIALECTS["pi"](tmp_path / "whole.jsonl", TALK)
    before = Path(whole.path).read_bytes()
    prune(whole, DEFAULTS, lambda: LATER, str, at_step=steps.append)
    after = Path(whole.path).read_bytes()
    assert len(steps) > 3
    for crash_at in range(len(steps)):
        left = iter(range(crash_at, -1, -1))

        def crash(_step: str, left: Iterator[int] = left) -> None:
            if next(left) == 0:
                raise Crashed

        transcript = DIALECTS["pi"](tmp_path / f"{crash_at}.jsonl", TALK)
        with pytest.raises(Crashed):
            prune(transcript, DEFAULTS, lambda: LATER, str, at_step=crash)
        assert Path(transcript.path).read_bytes() in (before, after)
        prune_it(transcript)
        assert Path(transcript.path).read_bytes() == after


UNTIL_COMPACTED = """DELETE FROM transcript_events WHERE seq >= (
    SELECT min(seq) FROM transcript_event_identities AS i
    WHERE i.session_id = transcript_events.session_id AND event_type = 'compaction')"""
NONE_KEPT = DEFAULTS.replace(pruning=SMALL.replace(keep_exchanges=0))


def test_a_recorded_database_is_planned_for_and_never_written(tmp_path: Path) -> None:
    session = LAY_OUT["2026.9.6"](tmp_path / "main")[MAIN]
    change(tmp_path / "main", UNTIL_COMPACTED)
    transcript = Transcript(str(tmp_path / "main"), "openclaw", session)
    assert plan(transcript, NONE_KEPT, LATER * 2).changed
    with pytest.raises(InvalidInput, match="only reads"):
        prune_it(transcript, NONE_KEPT)


def test_a_recorded_file_of_the_older_version_is_pruned(tmp_path: Path) -> None:
    session = LAY_OUT["2026.3.13"](tmp_path / "main")[MAIN]
    path = tmp_path / "main" / "sessions" / f"{session}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    compacted = next(i for i, line in enumerate(lines) if b'"type":"compaction"' in line)
    path.write_bytes(b"".join(lines[:compacted]))
    transcript = Transcript(str(tmp_path / "main"), "openclaw", session)
    done = prune(transcript, NONE_KEPT, lambda: LATER * 2, str)
    assert Path(done.backup).parent == path.parent
    left = [text for text in texts_of(transcript) if "[gitguard: " in text]
    assert [len(text) for text in left] == [verdict.left for verdict in done.changed] != []
    assert plan(transcript, NONE_KEPT, LATER * 2).changed == ()


# The command


def ran(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["--root", str(root), "transcript", "prune", *arguments])


def test_the_command_says_what_is_saved_and_where_the_original_is(
    repo: Path, tmp_path: Path
) -> None:
    talk = [*call("a"), *call("b", tool="browser"), *AFTER]
    transcript = DIALECTS["claude-code"](tmp_path / "talk.jsonl", talk)
    would = ran(repo, transcript.path, "--dry-run")
    assert "To trim: 60,008 characters of bash" in would.output, would.output
    assert "To keep: 60,008 characters of browser" in would.output
    assert list(tmp_path.glob("*.bak-*")) == []
    done = ran(repo, transcript.path)
    assert "Results pruned: 1\nSaved: about 14," in done.output
    (backup,) = tmp_path.glob("*.bak-*")
    assert f"The original is kept: {backup}" in done.output
    document = json.loads(ran(repo, transcript.path, "--json").output)
    assert (document["pruned"], document["tokens_saved"], document["backup"]) == (0, 0, "")
    assert document["verdicts"][0]["reason"] == "`browser` is protected"
