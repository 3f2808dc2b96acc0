"""Reads what a report is made of: each state of the range once, newest first, in flat memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.model.text import counted, one_line, seconds
from gitguard.model.transcript import USER
from gitguard.model.value import Value
from gitguard.review.piece import Link, Piece
from gitguard.review.report import (
    FIELDS,
    Override,
    Report,
    ReportCheckpoint,
    SessionPart,
    Verdict,
    report_of,
    without_secrets,
)
from gitguard.review.timeline import StateReader
from gitguard.sessions.belief import named_signer
from gitguard.sessions.lane_reading import readable_lanes
from gitguard.sessions.verification import verify_known
from gitguard.sessions.workspace_sessions import WorkspaceSessions
from gitguard.state.checkpoint import Checkpoint
from gitguard.state.items import CONCLUSION, Item
from gitguard.state.roles import notes_of
from gitguard.state.task import START, TaskState
from gitguard.store.git.reader import ObjectReader
from gitguard.store.git.repository import Repository
from gitguard.store.session.lane_store import LaneStore
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Session

_REMOTE = re.compile(
    r"(?:https?://(?:[^/@\s]*@)?|ssh://(?:[^/@\s]*@)?|[\w.-]+@)"
    r"(?P<host>[\w-]+(?:\.[\w-]+)+)(?P<port>:\d+)?[:/](?P<path>[\w./~-]+?)(?:\.git)?/?"
)
"""A remote that a browser may know, too."""


class Gathered(Value):
    """A report, and where a reader can open what it names."""

    report: Report
    web: str
    """The address of the pages that show the work's commits, empty where there is none."""


def gather(sessions: WorkspaceSessions, piece: Piece) -> Gathered:
    """Read all that a report of a piece of work says."""
    with sessions.repository().reader() as of_lanes:
        return _gathered(sessions, piece, of_lanes)


def _gathered(sessions: WorkspaceSessions, piece: Piece, of_lanes: ObjectReader) -> Gathered:
    lanes: dict[tuple[str, str], LaneStore] = {}
    if any(link.lane_writer for link in piece.links):
        for store in readable_lanes(sessions, reader=of_lanes).stores:
            lanes[store.lane.session, store.lane.writer] = store
    by_history: dict[tuple[str, str], list[Link]] = {}
    for link in piece.links:
        by_history.setdefault((link.session, link.lane_writer), []).append(link)
    readings, gone = [], []
    for (key, writer), links in by_history.items():
        session = Session.of(key)
        if not writer:
            readings.append(_SessionReading(sessions.store(session), links))
        elif (session.name, writer) in lanes:
            readings.append(_SessionReading(lanes[session.name, writer], links))
        else:
            gone.append(f"The lane of {writer} went away while the report was made.")
    overrides = [override for reading in readings for override in reading.overrides()]
    report = report_of(
        piece,
        [reading.part() for reading in readings],
        overrides=tuple(sorted(overrides, key=lambda override: override.at)),
        verdicts=tuple(reading.verdict() for reading in readings),
        notes=(*gone, *(note for reading in readings for note in reading.notes)),
    )
    redacted: Report = without_secrets(report, sessions.workspace.redactor.text)
    return Gathered(redacted, _web_of(sessions.repository(), piece.head))


class _SessionReading:
    """One session's part in a piece of work, or a lane's."""

    def __init__(self, store: SessionStore, links: list[Link]) -> None:
        """Plan to read from the last checkpoint of the range down to the one before the first."""
        self.notes: list[str] = []
        self._store = store
        self._lane = store if isinstance(store, LaneStore) else None
        self._is_ours = any(link.is_ours for link in links)
        links = [link for link in links if link.is_ours or not self._is_ours]
        writers = frozenset().union(*(link.writers for link in links))
        self._beside = frozenset().union(*(link.beside for link in links)) - writers
        lasts = ((link.following or (link.after,))[-1] for link in links)
        self._last = max(lasts, key=lambda last: last.sequence)
        self._before = min((link.before for link in links), key=lambda b: b.sequence)

    def part(self) -> SessionPart:
        """Read the checkpoints of the range with their states, newest first."""
        chain = self._store.chain
        head = chain.head()
        # What somebody put on top of a history of ours says nothing of it.
        newest = head.committed or head.id
        # A branch that was moved or archived does not lead there any more; the link itself does.
        leads_there = newest and any(c.id == self._last.id for c in chain.commits(newest))
        start = newest if leads_there else self._last.id
        try:
            is_of_here = self._is_ours and self._lane is None
            copy = chain.anchors.read_copy() if is_of_here else None
        except GitguardError:
            copy = None  # `gitguard status` says what is wrong with it
        items = _ItemReader(
            copy.every_elsewhere if copy else (),
            all_elsewhere=not is_of_here,
            without=self._beside,
        )
        part, is_within = SessionPart(), False
        writer = self._lane.lane.writer if self._lane is not None else ""
        with self._store.repository().reader() as reader:
            states = StateReader(reader)
            for link in chain.links(start, head.anchor if start == head.committed else None):
                checkpoint = link.checkpoint
                if checkpoint is None:
                    note = f"the history ends where commit {link.id[:12]} cannot be read"
                    self.notes.append(note)
                    break
                is_within |= checkpoint.id == self._last.id
                try:
                    if is_within:
                        document = states.document(link)
                        stop = _stop(checkpoint, document, without=self._beside)
                        stop = stop.replace(writer=writer)
                        part.add(stop, _text(document, "task_id"), items.read(document))
                except GitguardError as error:
                    self.notes.append(f"{checkpoint.name} is left out: {error.message}")
                if checkpoint.id == self._before.id:
                    break
        return part

    def verdict(self) -> Verdict:
        """Verify the session's history, or the lane."""
        if self._lane is not None:
            return _lane_verdict(self._lane)
        outcome = verify_known(self._store)
        shown = counted(outcome.checkpoints, "checkpoint")
        text = f"{shown} verified, {counted(len(outcome.findings), 'finding')}"
        if outcome.findings:
            text = f"{text}; the first: {outcome.findings[0].lines[0]}"
        return Verdict(
            session=outcome.session,
            text=text,
            is_sound=not outcome.findings,
            is_ours=self._is_ours,
            is_known=outcome.is_anchored or self._is_ours,
            notes=outcome.notes,
        )

    def overrides(self) -> Iterator[Override]:
        """Yield what this machine remembers of overrides since the piece of work began."""
        if self._lane is not None:
            return
        from gitguard.store.session.conversations import all_conversations

        try:
            conversations = all_conversations(self._store.workspace, self._store.session)
        except GitguardError:
            return
        begun_at = self._before.at
        for conversation in conversations.values():
            lifted = conversation.override
            if lifted is not None and seconds(lifted.at) >= begun_at:
                yield Override(lifted.at, lifted.pressure, lifted.reason)


def _lane_verdict(store: LaneStore) -> Verdict:
    """Verify a whole lane, and say what its signature is worth here."""
    count, findings = 0, []
    for link in store.chain.links(store.lane.commit, None):
        count += 1
        name = link.checkpoint.name if link.checkpoint is not None else link.id[:12]
        findings += [f"{name}: {problem.message}" for problem in link.problems]
    text = f"{counted(count, 'checkpoint')} verified, {counted(len(findings), 'finding')}"
    if findings:
        text = f"not verified: {counted(len(findings), 'finding')}; the first: {findings[0]}"
    return Verdict(
        session=store.session.key,
        text=text,
        is_sound=not findings,
        is_ours=store.is_trusted,
        is_known=store.is_trusted,
        notes=(_signature_note(store),),
        writer=store.lane.writer,
        author=store.author,
    )


def _signature_note(store: LaneStore) -> str:
    """Say whose signature a lane's newest commit has, which vouches for all before it."""
    if not store.newest.signature:
        return "the lane is not signed, so anybody who may push there can have written it"
    named = named_signer(store.workspace, store.repository(), store.lane)
    if named:
        return f"the lane is signed by a key that you named ({one_line(named)})"
    verdict = store.signatures().verdict(store.lane.commit, store.newest.signature)
    if verdict.is_good:
        return f"the lane is signed by {verdict.signer or verdict.key}"
    return f"the lane's signature was not verified: {verdict.reason}"


class _ItemReader:
    """Reads the items of states that come one after another, an item that stays the same once."""

    def __init__(
        self, elsewhere: Iterable[str], *, all_elsewhere: bool, without: frozenset[str]
    ) -> None:
        """Mark the items with these ids as another machine's, or all of them.

        Items of some conversations are left out.
        """
        self._without = without
        self._elsewhere = frozenset(elsewhere)
        self._all_elsewhere = all_elsewhere
        self._document: dict[str, Any] = {}
        self._listed: dict[str, tuple[Item, ...]] = {}
        self._items: dict[int, tuple[Any, Item]] = {}
        """The items of the last state by the object that was read, which is kept alive here."""

    def read(self, document: dict[str, Any]) -> dict[str, tuple[Item, ...]]:
        """Return a state's items by field; raise `InvalidDocument` if one cannot be read."""
        if document is self._document:
            return self._listed
        earlier, self._items = self._items, {}
        listed: dict[str, tuple[Item, ...]] = {}
        for field in FIELDS:
            kind = TaskState.kinds[field].record
            if kind is None:
                listed[field] = notes_of(_text(document, field))
                continue
            raws = document.get(field, ())
            if not isinstance(raws, (list, tuple)):
                raise InvalidDocument(f"`{field}` is not a list")
            items = []
            for raw in raws:
                if id(raw) not in earlier:
                    item: Any = kind.from_document(raw)
                    if self._all_elsewhere or item.id in self._elsewhere:
                        item = item.replace(origin=item.origin.replace(elsewhere=True))
                    earlier[id(raw)] = (raw, item)
                self._items[id(raw)] = earlier[id(raw)]
                if earlier[id(raw)][1].origin.conversation not in self._without:
                    items.append(earlier[id(raw)][1])
            listed[field] = tuple(items)
        self._document, self._listed = document, listed
        return listed


def _stop(
    checkpoint: Checkpoint, document: dict[str, Any], *, without: frozenset[str]
) -> ReportCheckpoint:
    goal, origin = _text(document, "goal"), document.get("goal_from") or {}
    is_stated = goal.strip() != START and origin.get("conversation", "") not in without
    return ReportCheckpoint(
        name=checkpoint.name,
        id=checkpoint.id,
        session=checkpoint.session_key,
        at=checkpoint.at,
        trigger=checkpoint.trigger,
        pressure=checkpoint.pressure,
        code=checkpoint.code.head,
        commit="",
        why=checkpoint.why,
        purged=checkpoint.purged,
        joins=bool(checkpoint.seen),
        goal=goal if is_stated else "",
        goal_by=_text(origin, "by") if is_stated else "",
        status=_text(document, "status"),
        phase=_text(document, "current_phase"),
        next_action="" if _is_answered(document) else _text(document, "next_action"),
        confidence=float(document.get("state_confidence", 0)),
    )


def _is_answered(document: Mapping[str, Any]) -> bool:
    """Say of a state's document what `TaskState.is_answered` does of a state."""
    prompt, exchanges = document.get("next_from"), document.get("exchanges")
    if not isinstance(prompt, dict) or prompt.get("by") != USER or not isinstance(exchanges, list):
        return False
    answers = (e for e in exchanges if isinstance(e, dict) and e.get("kind") == CONCLUSION)
    return any(
        origin.get("conversation") == prompt.get("conversation")
        and origin.get("turn", 0) >= prompt.get("turn", 0)
        for origin in (answer.get("origin", {}) for answer in answers)
    )


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name, "")
    return value if isinstance(value, str) else ""


def _web_of(repository: Repository, head: str) -> str:
    outcome = repository.git.attempt("config", "--get", "remote.origin.url")
    web = web_address(outcome.stdout.decode("utf-8", "replace").strip())
    refs = repository.refs_containing(head) if web else []
    return web if any(ref.startswith("refs/remotes/origin/") for ref in refs) else ""


def web_address(remote: str) -> str:
    """Return the address under which a browser finds a remote, empty where none is known."""
    match = _REMOTE.fullmatch(remote)
    if match is None or ".." in match["path"]:
        return ""
    return f"https://{match['host']}/{match['path'].strip('/')}"
