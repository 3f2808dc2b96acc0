"""Reads what a report is made of: each state of the range once, newest first, in flat memory."""

from __future__ import annotations

import re

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.model.codec import STATE_FILE
from gitguard.model.record import Record
from gitguard.model.similar_json import SimilarObjects
from gitguard.model.text import counted, seconds
from gitguard.model.value import Value
from gitguard.review.report import (
    FIELDS,
    Moment,
    Override,
    Report,
    Verdict,
    report_of,
    without_secrets,
)
from gitguard.sessions.verification import verify
from gitguard.state.task import START, TaskState, upgraded
from gitguard.store.session.naming import Session
from gitguard.store.session.other_machine import marks_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from gitguard.review.piece import Link, Piece
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.items import Item
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.store import SessionStore

_REMOTE = re.compile(
    r"(?:https?://(?:[^/@\s]*@)?|ssh://(?:[^/@\s]*@)?|[\w.-]+@)"
    r"(?P<host>[\w-]+(?:\.[\w-]+)+)(?P<port>:\d+)?[:/](?P<path>[\w./~-]+?)(?:\.git)?/?"
)
"""A remote that a browser may know, too."""


class References(Value):
    """Where a reader can open what a report names."""

    web: str = ""
    """The address of the repository's pages, empty where there is none."""
    has_commits: bool = False
    """Whether the remote has the code's commits."""
    sessions: tuple[str, ...] = ()
    """The sessions whose checkpoints the remote has."""


class Gathered(Value):
    """A report, and where a reader can open what it names."""

    report: Report
    references: References


def gather(sessions: WorkspaceSessions, piece: Piece) -> Gathered:
    """Read all that a report of a piece of work says."""
    by_session: dict[str, list[Link]] = {}
    for link in piece.links:
        by_session.setdefault(link.session, []).append(link)
    readings = [
        _Reading(sessions.store(Session.of(key)), links, piece.head)
        for key, links in by_session.items()
    ]
    overrides = [override for reading in readings for override in reading.overrides()]
    report = report_of(
        piece,
        (reading.moments() for reading in readings),
        overrides=tuple(sorted(overrides, key=lambda override: override.at)),
        verdicts=tuple(reading.verdict() for reading in readings),
        notes=lambda: tuple(note for reading in readings for note in reading.notes),
    )
    redacted = without_secrets(report, sessions.workspace.redactor.text)
    return Gathered(redacted, _references(sessions.repository(), piece, by_session))


class _Reading:
    """One session's part in a piece of work."""

    def __init__(self, store: SessionStore, links: list[Link], head: str) -> None:
        """Plan to read from the last checkpoint of the range down to the one before the first."""
        self.notes: list[str] = []
        self._store = store
        ours = [link for link in links if link.is_ours]
        links = ours or links
        self._is_ours = bool(ours)
        self._head = head
        self._last = max((link.after for link in links), key=lambda after: after.sequence)
        befores = [link.before for link in links]
        before = min((b for b in befores if b), key=lambda b: b.sequence, default=None)
        self._before = None if None in befores else before

    def moments(self) -> Iterator[Moment]:
        """Yield the checkpoints of the range with their states, newest first."""
        chain = self._store.chain
        head = chain.head()
        # What somebody put on top of a history of ours says nothing of it.
        newest = head.committed or head.id
        # A branch that was moved or archived does not lead there any more; the link itself does.
        leads_there = newest and any(c.id == self._last.id for c in chain.commits(newest))
        start = newest if leads_there else self._last.id
        parser = _States(self._elsewhere())
        is_within, blob = False, ""
        for link in chain.links(start, head.anchor if start == head.committed else None):
            checkpoint = link.checkpoint
            if checkpoint is None:
                self.notes.append(f"the history ends where commit {link.id[:12]} cannot be read")
                return
            is_within = is_within or self._is_end(checkpoint)
            if link.files.get(STATE_FILE, "") != blob:
                blob = link.files.get(STATE_FILE, "")
                data = link.contents.get(STATE_FILE)
                parser.take(self._read_again(link.id) if data is None else data)
            try:
                if is_within:
                    yield parser.moment(checkpoint)
            except GitguardError as error:
                self.notes.append(f"{checkpoint.name} is left out: {error.message}")
            if self._before is not None and checkpoint.id == self._before.id:
                return

    def _read_again(self, commit: str) -> bytes:
        """Return a state that the walk handed out before, as after a restore; empty if unsound."""
        try:
            return self._store.chain.read(commit).contents[STATE_FILE]
        except GitguardError:
            return b""

    def _is_end(self, checkpoint: Checkpoint) -> bool:
        """Say whether the range ends with a checkpoint: what was noted after its last commit."""
        return checkpoint.id == self._last.id or checkpoint.code.head == self._head

    def _elsewhere(self) -> Collection[str] | None:
        """Return the ids of another machine's items, None where all are."""
        if not self._is_ours:
            return None
        try:
            return frozenset(marks_in(self._store.look().state))
        except GitguardError:
            return frozenset()  # `gitguard status` says what is wrong with the state

    def verdict(self) -> Verdict:
        """Verify the session's history."""
        outcome = verify(self._store)
        shown = counted(outcome.checkpoints, "checkpoint")
        text = f"{shown} verified, {counted(len(outcome.findings), 'finding')}"
        if outcome.findings:
            text = f"{text}; the first: {outcome.findings[0].lines[0]}"
        return Verdict(
            outcome.session,
            text,
            not outcome.findings,
            outcome.is_anchored and self._is_ours,
            outcome.notes,
        )

    def overrides(self) -> Iterator[Override]:
        """Yield what this machine remembers of overrides since the piece of work began."""
        from gitguard.store.session.conversations import all_conversations

        try:
            conversations = all_conversations(self._store.workspace, self._store.session)
        except GitguardError:
            return
        begun_at = self._before.at if self._before else 0
        for conversation in conversations.values():
            lifted = conversation.override
            if lifted is not None and seconds(lifted.at) >= begun_at:
                yield Override(lifted.at, lifted.pressure, lifted.reason)


class _States:
    """Reads states that come one after another; an item that stays the same is read once."""

    def __init__(self, elsewhere: Collection[str] | None) -> None:
        """Mark the items with these ids as another machine's, or all of them."""
        self._elsewhere = elsewhere
        self._documents = SimilarObjects(what="the checkpoint's state")
        self._document: dict[str, Any] | GitguardError = {}
        self._items: dict[int, tuple[Any, Item]] = {}
        """The items of the last state by the object that was read, which is kept alive here."""

    def take(self, data: bytes) -> None:
        """Read the state that the checkpoints from here on have."""
        try:
            self._document = upgraded(self._documents.load(data))
        except GitguardError as error:
            self._document = error

    def moment(self, checkpoint: Checkpoint) -> Moment:
        """Return a checkpoint with its state; raise `InvalidDocument` if that cannot be read."""
        document = self._document
        if isinstance(document, GitguardError):
            raise document
        earlier, self._items = self._items, {}
        items = {field: self._read(field, document, earlier) for field in FIELDS}
        goal, origin = _text(document, "goal"), document.get("goal_from") or {}
        is_stated = goal.strip() != START
        return Moment(
            checkpoint,
            _text(document, "task_id"),
            goal if is_stated else "",
            _text(origin, "by") if is_stated else "",
            _text(document, "status"),
            _text(document, "current_phase"),
            _text(document, "next_action"),
            float(document.get("state_confidence", 0)),
            items,
        )

    def _read(
        self, field: str, document: dict[str, Any], earlier: Mapping[int, tuple[Any, Item]]
    ) -> tuple[Item, ...]:
        kind = TaskState.kinds[field].record
        assert kind is not None  # the fields of a report are lists of items
        listed = document.get(field, ())
        if not isinstance(listed, (list, tuple)):
            raise InvalidDocument(f"`{field}` is not a list")
        return tuple(self._item(kind, raw, earlier) for raw in listed)

    def _item(self, kind: type[Record], raw: Any, earlier: Mapping[int, tuple[Any, Item]]) -> Item:
        kept = earlier.get(id(raw))
        if kept is None:
            item: Any = kind.from_document(raw)
            is_elsewhere = self._elsewhere is None or item.id in self._elsewhere
            if is_elsewhere:
                item = item.replace(origin=item.origin.replace(elsewhere=True))
            kept = (raw, item)
        self._items[id(raw)] = kept
        return kept[1]


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name, "")
    return value if isinstance(value, str) else ""


def _references(
    repository: Repository, piece: Piece, by_session: Mapping[str, list[Link]]
) -> References:
    outcome = repository.git.attempt("config", "--get", "remote.origin.url")
    web = web_address(outcome.stdout.decode("utf-8", "replace").strip())
    if not web:
        return References()

    def is_there(commit: str) -> bool:
        refs = repository.refs_containing(commit)
        return any(ref.startswith("refs/remotes/origin/") for ref in refs)

    sessions = tuple(key for key, links in by_session.items() if is_there(links[-1].after.id))
    return References(web, is_there(piece.head), sessions)


def web_address(remote: str) -> str:
    """Return the address under which a browser finds a remote, empty where none is known."""
    match = _REMOTE.fullmatch(remote)
    if match is None or ".." in match["path"]:
        return ""
    return f"https://{match['host']}/{match['path'].strip('/')}"
