"""Every reading command, and what each of them must and must not say."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from gitguard.store.session.workspace import Session

from .memory import Memory
from .world import Answer, Broken, World

LOCKED = 30
REFUSED = frozenset({10, 13, 45})
"""How a command ends that does not hand out what somebody wrote past gitguard; 13 hands out what
this machine wrote."""


class Reader(NamedTuple):
    """One reading command."""

    words: tuple[str, ...]
    is_content: bool = True
    """Whether it prints what states hold."""
    codes: frozenset[int] = frozenset({0})
    """How it may end while nobody changed what only gitguard writes."""

    @property
    def name(self) -> str:
        return " ".join(self.words)


STATE = Reader(("show", "state"))
LOG = Reader(("--json", "log", "-n", "1000"), is_content=False)
VERIFY = Reader(("--json", "verify", "--all"), is_content=False)
SESSIONS = Reader(("--json", "session", "list"), is_content=False)
STATUS = Reader(("--json", "status"))
RESUME = Reader(("resume",), codes=frozenset({0, 12}))
READERS = (
    STATE,
    LOG,
    VERIFY,
    SESSIONS,
    STATUS,
    RESUME,
    Reader(("show", "summary")),
    Reader(("show", "snapshot")),
    Reader(("diff",)),
    Reader(("session", "show"), is_content=False),
    Reader(("session", "maintain"), is_content=False),
    Reader(("bundle", "--summary"), codes=frozenset({0, 12})),
    Reader(("handoff", "read"), codes=frozenset({0, 21, 23, 24})),
    Reader(("scan",), is_content=False),
    Reader(("policy", "show"), is_content=False),
)
"""Every reading command; all are asked after every step."""
OTHER_FORMS = (
    Reader(("status",)),
    Reader(("log",), is_content=False),
    Reader(("diff", "--text")),
    Reader(("verify",), is_content=False),
    Reader(("session", "list"), is_content=False),
)
"""Some of them in another form; they take turns."""


def of_a_checkpoint(commit: str) -> tuple[Reader, ...]:
    """Return those that can be asked about one checkpoint; they take turns."""
    return (
        Reader(("show", "state", commit)),
        Reader(("show", "summary", commit)),
        Reader(("show", "snapshot", commit)),
        Reader(("diff", commit)),
        Reader(("restore", commit, "--dry-run")),
    )


def ask_all(world: World, memory: Memory, *, beside_a_writer: bool = False) -> None:
    """Ask every reading command; raise `Broken` where one says what is not so."""
    if not memory.current:
        return
    memory.rounds += 1
    asked = [*READERS, OTHER_FORMS[memory.rounds % len(OTHER_FORMS)]]
    if memory.session.checkpoints:
        commit = sorted(memory.session.checkpoints)[len(memory.session.checkpoints) // 2]
        readers = of_a_checkpoint(commit)
        asked.append(readers[memory.rounds // len(OTHER_FORMS) % len(readers)])
    if beside_a_writer:
        # Those that wait for a lock wait at the same time.
        started = [(reader, world.start(*reader.words)) for reader in asked]
        answers = {reader: process.finish() for reader, process in started}
    else:
        answers = dict(zip(asked, world.run_all([r.words for r in asked]), strict=True))
    for reader, answer in answers.items():
        judge_end(reader, answer, memory, beside_a_writer)
    if memory.is_sound:
        _judge_content(answers, memory, beside_a_writer)


def judge_end(reader: Reader, answer: Answer, memory: Memory, beside_a_writer: bool) -> None:
    """Raise `Broken` where a reading command ended as it must not."""
    codes = reader.codes
    if beside_a_writer:
        codes |= {LOCKED}
    if not memory.is_sound:
        codes |= REFUSED
        for marker in filter(None, (memory.forged, memory.edited)):
            if answer.code in (0, 13) and marker in answer.out:
                raise Broken(f"`{reader.name}` hands out what somebody wrote past gitguard")
    if answer.code not in codes:
        raise Broken(
            f"`{reader.name}` ends with {answer.code}: {(answer.err or answer.out)[-600:]}"
        )


def _judge_content(answers: dict[Reader, Answer], memory: Memory, beside_a_writer: bool) -> None:
    session = memory.session
    if answers[STATE].code == 0:
        state: dict[str, Any] = json.loads(answers[STATE].out)
        lost = session.task.lacks(state)
        if lost and beside_a_writer and session.instead is not None:
            lost = session.instead.lacks(state)
        elif not beside_a_writer:
            lost = session.settle(state)
        if lost:
            raise Broken(f"the state of `{session.key}` does not hold {lost}")
    is_resumed = answers[RESUME].code == 0 and not beside_a_writer
    if is_resumed and session.task.goal not in answers[RESUME].out:
        raise Broken(f"`resume` does not hand back the goal `{session.task.goal}`")
    if answers[LOG].code == 0:
        listed = {item["id"] for item in answers[LOG].document["checkpoints"]}
        if missing := set(session.checkpoints) - listed:
            raise Broken(f"`log` does not list the checkpoints {sorted(missing)}")
    if answers[VERIFY].code == 0:
        branches = {item["branch"] for item in answers[VERIFY].document["sessions"]}
        reported = {branch.rpartition("/")[2] for branch in branches}
        if missing := _open_names(memory) - reported:
            raise Broken(f"`verify --all` says nothing of {sorted(missing)}")
    if answers[SESSIONS].code == 0:
        listed = set(answers[SESSIONS].document["sessions"])
        if missing := _open_names(memory) - listed:
            raise Broken(f"`session list` does not list {sorted(missing)}")
    if faults := answers[STATUS].document.get("faults"):
        raise Broken(f"`status` shows faults: {faults}")


def _open_names(memory: Memory) -> set[str]:
    """Return the names of the sessions; a key that is no name stands in their checkpoints alone."""
    return {
        Session.of(key).name for key, session in memory.sessions.items() if not session.is_closed
    }
