"""What gitguard repaired, the real hosts resume: every call has its result, and nothing is lost."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.support.written_conversations import CALLS, Document, blocks_of

from .scripted_model import Request, Step, ToolCall, blocks_of_message
from .talks import Talk

MISSING = "[gitguard] missing tool result"
PLACEHOLDERS = ("Tool result missing", "Orphaned tool result", "No result provided")
"""What hosts put in the place of results that they miss themselves."""
SAID = ("begin", "I look", "I look again", "first done", "go on", "second", "second done")
LEFT = "left behind"
CUT_SHORT = "killed"
"""What ends a conversation early."""


class File:
    """A conversation as a host wrote it, to be damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.whole = path.read_bytes()
        self.lines: list[Document] = [json.loads(line) for line in self.whole.splitlines()]
        tree = next(line for line in self.lines if {"parentUuid", "parentId"} & line.keys())
        self.own, self.parent = ("uuid", "parentUuid") if "uuid" in tree else ("id", "parentId")

    def write(self, *more: bytes) -> None:
        lines = [json.dumps(line, ensure_ascii=False).encode() for line in self.lines]
        self.path.write_bytes(b"\n".join([*lines, *more]) + b"\n" * (not more))

    def call(self, command: str) -> Document:
        """The line with the call of a command."""
        return next(
            line
            for line in self.lines
            for block in blocks_of(line)
            if block["type"] in CALLS and command in json.dumps(block)
        )

    def result(self, command: str) -> Document:
        ids = {b["id"] for b in blocks_of(self.call(command)) if command in json.dumps(b)}
        return next(
            line
            for line in self.lines
            for block in blocks_of(line)
            if block["type"] == "tool_result" and block["tool_use_id"] in ids
        )

    def said(self, text: str) -> Document:
        return next(line for line in self.lines if text in json.dumps(line.get("message", {})))

    def take_out(self, line: Document) -> Document:
        """Remove a line; what followed it follows what it followed."""
        self.lines.remove(line)
        for other in self.lines:
            if other.get(self.parent) == line[self.own]:
                other[self.parent] = line[self.parent]
        return line

    def put_behind(self, anchor: Document, line: Document) -> None:
        """Add a line behind another one, in the file and in the tree."""
        for other in self.lines:
            if other.get(self.parent) == anchor[self.own]:
                other[self.parent] = line[self.own]
        line[self.parent] = anchor[self.own]
        self.lines.insert(self.lines.index(anchor) + 1, line)

    def copy_of(self, line: Document, own: str) -> Document:
        made = copy.deepcopy(line)
        made[self.own] = "00000000-0000-4000-8000-" + own * 12 if self.own == "uuid" else own * 8
        return made


def lose_results(file: File) -> None:
    file.take_out(file.result("echo one"))
    file.take_out(file.result("echo three"))
    file.write()


def add_an_orphan(file: File) -> None:
    orphan = file.copy_of(file.result("echo three"), "a")
    _rename_call(orphan, "toolu_nobody")
    file.put_behind(file.said("first done"), orphan)
    file.write()


def double_a_result(file: File) -> None:
    second = file.copy_of(file.result("echo three"), "b")
    file.put_behind(file.result("echo three"), second)
    file.put_behind(file.said("first done"), file.copy_of(second, "c"))
    file.write()


def displace_a_result(file: File) -> None:
    moved = file.take_out(file.result("echo three"))
    file.put_behind(file.said("first done"), moved)
    file.write()


def leave_a_branch(file: File) -> None:
    """A branch that was left, and behind it a result of no call, which the conversation ends on."""
    newest = [line for line in file.lines if line.get(file.own) and file.parent in line][-1]
    left = file.copy_of(file.said("go on"), "8")
    left["message"] = json.loads(json.dumps(left["message"]).replace("go on", LEFT))
    left[file.parent] = file.said("first done")[file.own]
    orphan = file.copy_of(file.result("echo three"), "9")
    _rename_call(orphan, "toolu_nobody")
    orphan[file.parent] = newest[file.own]
    file.lines += [left, orphan]
    file.write()


def break_calls(file: File) -> None:
    damages: tuple[Document, ...] = ({"name": ""}, {"input": None, "arguments": None})
    for number, damage in enumerate(damages):
        call = file.copy_of(file.call("echo three"), "de"[number])
        message = call["message"]
        message["id"] = f"msg_broken_{number}"
        blocks = [block for block in message["content"] if block["type"] in CALLS]
        message["content"] = [
            block | {"id": "toolu_bad"} | {k: v for k, v in damage.items() if k in block}
            for block in blocks
        ]
        result = file.copy_of(file.result("echo three"), "fg"[number])
        _rename_call(result, "toolu_bad")
        anchor = file.said("first done")
        file.put_behind(anchor, call)
        file.put_behind(call, result)
    file.write()


def share_an_id(file: File) -> None:
    """Two answers call with one id, which models refuse."""
    [own] = [b["id"] for b in blocks_of(file.call("echo one")) if "echo one" in json.dumps(b)]
    call, result = file.call("echo three"), file.result("echo three")
    next(b for b in blocks_of(call) if b["type"] in CALLS)["id"] = own
    _rename_call(result, own)
    file.write()


def blank_an_id(file: File) -> None:
    call = file.copy_of(file.call("echo three"), "d")
    message = call["message"]
    blocks = [block for block in message["content"] if block["type"] in CALLS]
    message |= {"id": "msg_blank", "content": [block | {"id": " "} for block in blocks]}
    result = file.copy_of(file.result("echo three"), "e")
    _rename_call(result, " ")
    anchor = file.said("first done")
    file.put_behind(anchor, call)
    file.put_behind(call, result)
    file.write()


def tear(file: File, at: int) -> None:
    file.write()
    lines = file.path.read_bytes().splitlines()
    lines[at] = lines[at][:100]
    file.path.write_bytes(b"\n".join(lines) + b"\n")


def tear_lines(file: File) -> None:
    """The line of a result, and a last one that was never finished."""
    at = file.lines.index(file.result("echo three"))
    tear(file, at)
    lines = file.path.read_bytes().splitlines()
    file.path.write_bytes(b"\n".join([*lines, lines[-1][:60]]))


def end_while_tools_run(file: File) -> None:
    """What a killed host leaves: two calls, and no line behind them but its own notes."""
    begin = file.lines.index(file.call("echo two")) + 1
    notes = [line for line in file.lines[begin : begin + 2] if file.parent not in line]
    file.lines[begin:] = notes
    file.write()


def _rename_call(line: Document, own: str) -> None:
    message = line["message"]
    if "toolCallId" in message:
        message["toolCallId"] = own
    else:
        message["content"][0]["tool_use_id"] = own


DAMAGES: dict[str, tuple[Callable[[File], None], Mapping[str, int]]] = {
    "missing": (lose_results, {"answered": 2}),
    "orphaned": (add_an_orphan, {"orphaned": 1}),
    "branch": (leave_a_branch, {"orphaned": 1}),
    "duplicate": (double_a_result, {"duplicate": 2}),
    "moved": (displace_a_result, {"moved": 1}),
    "incomplete": (break_calls, {"incomplete": 2, "orphaned": 2, "emptied": 2}),
    "shared id": (share_an_id, {"reissued": 1}),
    "blank id": (blank_an_id, {"incomplete": 1, "orphaned": 1, "emptied": 1}),
    CUT_SHORT: (end_while_tools_run, {"answered": 2}),
    "torn": (tear_lines, {"broken": 2, "relinked": 1, "answered": 1}),
}


def conversation(call: Callable[[str], ToolCall]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Two turns, the first with two calls at once."""
    first = (
        Step("I look", (call("echo one"), call("echo two"))),
        Step("I look again", (call("echo three"),)),
        Step("first done"),
    )
    return first, (Step("second", (call("echo four"),)), Step("second done"))


def assert_whole(request: Request, name: str) -> None:
    """The model is given all that was said, in pairs, and nothing that a host made up."""
    said = json.dumps(request.body["messages"])
    answered = DAMAGES[name][1].get("answered", 0)
    for text in SAID[:2] if name == CUT_SHORT else SAID:
        assert text in said, text
    for text in (*PLACEHOLDERS, LEFT):
        assert text not in said
    assert said.count(MISSING) == answered
    assert_paired(request)


def assert_paired(request: Request) -> None:
    """Each call has its result behind it, and there are no others."""
    pending: list[str] = []
    seen: list[str] = []
    for message in request.body["messages"]:
        blocks = blocks_of_message(message)
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        assert sorted(results) == sorted(pending)
        assert all(block["type"] == "tool_result" for block in blocks[: len(results)])
        calls = [block for block in blocks if block["type"] == "tool_use"]
        assert all(c["id"] and c["name"] and isinstance(c["input"], dict) for c in calls)
        pending = [call["id"] for call in calls]
        seen += pending
    assert pending == []
    assert len({*seen}) == len(seen)


@pytest.mark.essential
def test_a_host_resumes_what_was_repaired(talk: Talk) -> None:
    first, second = conversation(talk.shell)
    talk.say("begin", *first)
    talk.say("go on", *second)
    path = talk.transcript
    whole = path.read_bytes()
    for name, (damage, counts) in DAMAGES.items():
        path.write_bytes(whole)
        damage(File(path))
        told = talk.gitguard("repair")
        assert told["counts"] == counts, name
        resumed = f"resumed after {name}"
        assert talk.say("what now?", Step(resumed)) == resumed
        assert_whole(talk.newest_request, name)


@pytest.mark.parametrize("talk", ["claude-code"], indirect=True)
def test_of_calls_at_once_the_others_stay_where_one_is_torn(talk: Talk) -> None:
    commands = ("echo one", "echo two", "echo three")
    talk.say("begin", Step("I look", tuple(map(talk.shell, commands))), Step("done"))
    path = talk.transcript
    whole = path.read_bytes()
    for torn in commands:
        path.write_bytes(whole)
        file = File(path)
        tear(file, file.lines.index(file.call(torn)))
        counts = talk.gitguard("repair")["counts"]
        assert (counts.pop("broken"), counts.pop("orphaned"), *counts) == (1, 1, "relinked")
        assert talk.say("what now?", Step("resumed")) == "resumed"
        said = json.dumps(talk.newest_request.body["messages"])
        assert [each in said for each in commands] == [each != torn for each in commands]
        assert not any(text in said for text in (MISSING, *PLACEHOLDERS))
        assert_paired(talk.newest_request)
