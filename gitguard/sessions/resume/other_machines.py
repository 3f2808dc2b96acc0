"""Where joined work was done: on which machine, how long ago, and what differs here.

A lane tells which commit was checked out there, and by its id what the agent wrote into files that
git tracks. Nothing else of the other worktree is known, so nothing else is said.
"""

from __future__ import annotations

from itertools import islice

from gitguard.errors import GitguardError
from gitguard.model.text import one_line, seconds, shorten
from gitguard.model.value import Value
from gitguard.sessions.belief import other_lanes
from gitguard.sessions.resume.own_code import files_named
from gitguard.sessions.resume.reader import duration
from gitguard.state.checkpoint import lane_author
from gitguard.store.session.chain_check import VERIFIED
from gitguard.store.session.joined_lanes import joined_path, read_joined
from gitguard.store.session.lanes import lane_checkpoints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gitguard.state.checkpoint import Checkpoint, Code
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.session.standing import Head
    from gitguard.store.session.store import SessionStore

_MOST = 3
"""Machines that are told of, those whose work is newest."""
_MOST_READ = 20
"""Lanes whose newest commit is read for that."""
_SHORT_ID = 7
_NAME, _LINE = 48, 320
_UNKNOWN = "; other changes there, such as files that git does not track, are not known here"
_FUTURE = 60
"""Seconds by which clocks may differ before no age is told."""


class WorkElsewhere(Value):
    """The newest of what one writer did, as its lane tells it."""

    newest: Checkpoint
    written: Mapping[str, str]
    """What the agent wrote last into files that git tracks there: path and content's id."""


def work_elsewhere(store: SessionStore, head: Head) -> tuple[str, ...]:
    """Return a line for each machine whose lane the session joined, the newest work first.

    Once this machine has worked on since, only machines that have something this one lacks.
    """
    seen, is_news = _joined(store, head)
    if not seen:
        return ()
    with store.repository().reader() as reader:
        works = sorted(_works(reader, seen), key=lambda work: -work.newest.at)
        lines = [_line(store, reader, work, head.code, is_news=is_news) for work in works[:_MOST]]
    return tuple(line for line in lines if line)


def session_elsewhere(store: SessionStore) -> str:
    """Return which session another machine left on the branch that is checked out here.

    It is the newest one that is believed and was not begun here; empty where there is none.
    """
    branch = store.repository().checked_out().removeprefix("refs/heads/")
    own_sessions = store.workspace.session_names()
    lanes = [
        lane
        for lane in other_lanes(store.workspace, store.repository())
        if lane.is_trusted and lane.branch == branch and lane.session not in own_sessions
    ]
    if not branch or not lanes:
        return ""
    lane = max(lanes, key=lambda lane: (lane.at, lane.writer))
    named = shorten(one_line(lane.session_key), _NAME)
    author, age = one_line(lane.author), _age(store, seconds(lane.at))
    text = (
        f"session {named} of {author}, saved{age} on this branch, is here and not in use; "
        f"`{lane.use_command}` continues it"
    )
    return store.workspace.redactor.text(text)


def _joined(store: SessionStore, head: Head) -> tuple[Mapping[str, str], bool]:
    """Return the lanes that the state holds, and whether nothing was saved here since."""
    noted = read_joined(joined_path(store.workspace, store.session))
    if noted or not head.committed:
        return noted, True
    for age, checkpoint in enumerate(islice(store.chain.history(head.committed), VERIFIED)):
        if checkpoint.seen:
            return checkpoint.seen, age == 0
    return {}, False


def _works(reader: ObjectReader, seen: Mapping[str, str]) -> Iterator[WorkElsewhere]:
    for writer, commit in list(seen.items())[:_MOST_READ]:
        newest: Checkpoint | None = None
        written: dict[str, str] = {}
        try:
            for checkpoint in lane_checkpoints(reader, commit, writer, most=VERIFIED):
                newest = newest or checkpoint
                for file in checkpoint.written:
                    written.setdefault(file.path, file.new)
        except GitguardError:
            pass  # what was read until here holds all the same
        if newest is not None:
            yield WorkElsewhere(newest, written)


def _line(
    store: SessionStore, reader: ObjectReader, work: WorkElsewhere, ours: Code, *, is_news: bool
) -> str:
    redactor, theirs = store.workspace.redactor, work.newest.code
    has_commit = not theirs.head or reader.exists(theirs.head)
    lacking = [
        f"HEAD {theirs.head[:_SHORT_ID]} there, a commit that this repository does not have"
        if not has_commit
        else "",
        files_named(
            "changed there, and in no commit here",
            _in_no_commit(store, reader, work),
            redactor,
        ),
    ]
    if not is_news and not any(lacking):
        return ""
    lane = work.newest.lane
    assert lane is not None  # `lane_checkpoints` yields no others
    author = lane_author(lane.writer, redactor.text(one_line(lane.machine)))
    apart = (_branch_apart(theirs, ours), _commit_apart(theirs, ours) if has_commit else "")
    differences = [part for part in (*apart, *lacking) if part]
    difference_text = "; ".join(redactor.text(part) for part in differences)
    is_same = bool(theirs.head) and theirs.head == ours.head
    same = "the same commit is checked out here" if is_same else ""
    standing = difference_text or same or "commit unknown"
    text = f"{author}, saved{_age(store, work.newest.at)}: {standing}"
    return shorten(text, _LINE - len(_UNKNOWN)) + _UNKNOWN


def _age(store: SessionStore, at: float) -> str:
    """Return how old a checkpoint is, or nothing where its clock is ahead of ours."""
    age = store.clock() - at
    return f" {duration(age)} ago" if age >= -_FUTURE else " at a time that is not known"


def _branch_apart(theirs: Code, ours: Code) -> str:
    if not theirs.branch or not ours.branch or theirs.branch == ours.branch:
        return ""
    branches = (shorten(one_line(code.branch), _NAME) for code in (theirs, ours))
    return "branch {} there, {} here".format(*branches)


def _commit_apart(theirs: Code, ours: Code) -> str:
    if not theirs.head or theirs.head == ours.head:
        return ""
    return f"HEAD {theirs.head[:_SHORT_ID]} there, {ours.head[:_SHORT_ID] or 'no commit'} here"


def _in_no_commit(
    store: SessionStore, reader: ObjectReader, work: WorkElsewhere
) -> tuple[str, ...]:
    """Return the files whose newest content is not here; of a partial clone nobody knows it."""
    paths = tuple(path for path, new in work.written.items() if not reader.exists(new))
    git = store.repository().git
    if paths and git.attempt("config", "--get-regexp", r"^remote\..*\.promisor$").stdout:
        return ()
    return paths
