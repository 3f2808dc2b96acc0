"""The histories of a repository that can be searched: every session's, in force or archived.

What this machine wrote comes from an index beside the session's anchor, which is brought up to date
first. Only checkpoints whose objects were hashed again go into it. What this machine did not write
is read anew each time, and never kept.
"""

from __future__ import annotations

import os
from functools import cached_property

from gitguard.errors import GitguardError, Untrusted
from gitguard.model.value import Value
from gitguard.review.entries import Before, Collected, Collector
from gitguard.review.index import Index, Label, extended, new_index, read_index
from gitguard.review.timeline import EVERY_HISTORY, HistoryChoice, StateReader, named_session
from gitguard.sessions.lane_reading import readable_lanes
from gitguard.store.disk import files
from gitguard.store.session.anchor import Anchor, AnchorFile, archived_names, marks_of_text
from gitguard.store.session.chain_check import LEAVE, ChainLink, Verification, refuse
from gitguard.store.session.standing import GONE, reading_problem
from gitguard.store.session.workspace import Session, Workspace, is_session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gitguard.review.entries import IndexedItem
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.session.lane_store import LaneStore
    from gitguard.store.session.store import SessionStore

    Tell = Callable[[int, int], None]

_LIMIT = 1 << 28
_FEW = 200
"""New checkpoints that are read one by one, without a list of the whole history."""
_PATIENCE = 0.2
"""Seconds that a writer is waited for; without its lock the index stays as it is."""


class IndexedHistory(Value):
    """One history, ready to be searched."""

    session: str
    """The session's key."""
    index: Index
    is_ours: bool = True
    archived: str = ""
    """The commit at which it was archived; empty for a session in force."""
    writer: str = ""
    """The writer of the lane that it is; empty for a session's own history."""
    joins: frozenset[str] = frozenset()
    """The commits of a lane in which other lanes were joined."""
    anchors: AnchorFile | None = None
    """Where this machine keeps what it knows of the session; None for what it did not write."""

    @cached_property
    def _elsewhere(self) -> frozenset[str]:
        """What another machine wrote and this one joined; few searches ask."""
        try:
            copy = self.anchors.read_copy() if self.anchors is not None else None
        except GitguardError:
            return frozenset()  # `gitguard status` says what is wrong with it
        return frozenset(copy.every_elsewhere if copy is not None else ())

    def is_from_elsewhere(self, entry: IndexedItem) -> bool:
        """Say whether another machine wrote an item that this one joined."""
        ids = (entry.id,) if entry.id else marks_of_text(entry.parts[0])
        return not self._elsewhere.isdisjoint(ids)


class Histories(Value):
    """All that can be searched, and what was left out."""

    all: tuple[IndexedHistory, ...]
    notes: tuple[str, ...] = ()
    """Which sessions were left out, and why."""
    unread: int = 0
    """How many of the notes are about what could not be read, in part or at all."""
    hidden_lanes: int = 0
    """How many lanes were left out, because nobody here trusts their writers."""


def histories(
    sessions: WorkspaceSessions,
    *,
    choice: HistoryChoice = EVERY_HISTORY,
    untrusted: bool = False,
    tell: Tell | None = None,
) -> Histories:
    """Return histories and lanes, by default all.

    untrusted is whether those count that this machine did not write. tell is called with how many
    checkpoints of a history were read, of how many. Raises `InvalidInput` for an unknown session.
    """
    reader = _HistoryReader(sessions, tell or (lambda _count, _total: None), untrusted=untrusted)
    with sessions.repository().reader() as of_lanes:
        return reader.histories(choice, of_lanes)


def forget_indexes(workspace: Workspace) -> None:
    """Remove the indexes of all sessions of a repository."""
    for name in filter(is_session_name, files.names_in(workspace.state_folder)):
        AnchorFile(workspace.anchor_folder(Session(name, name))).forget_indexes()


class _Walked(Value):
    """What a walk over a history has collected."""

    collected: Collected
    sequence: int
    """The number of the newest checkpoint, 0 where there is none."""
    key: str
    """The key of its session."""
    met_end: bool
    """Whether the walk came to the commit at which it was to end."""
    is_damaged: bool
    """Whether a checkpoint on the way could not be read."""
    joins: frozenset[str] = frozenset()
    """The commits in which lanes were joined."""


class _HistoryReader:
    """Reads the histories of the sessions of a repository."""

    def __init__(self, sessions: WorkspaceSessions, tell: Tell, *, untrusted: bool) -> None:
        self._sessions = sessions
        self._untrusted = untrusted
        self._tell = tell
        self._heads = sessions.heads()
        self._rules = sessions.workspace.redactor.rules_id
        self._searchable: list[IndexedHistory] = []
        self._notes: list[str] = []
        self._unread = 0

    def histories(self, choice: HistoryChoice, of_lanes: ObjectReader) -> Histories:
        workspace = self._sessions.workspace
        remote = self._sessions.remote() if self._untrusted else {}
        lanes = readable_lanes(self._sessions, writer=choice.writer, reader=of_lanes)
        only, hidden_lanes = choice.session, 0
        self._notes += lanes.notes
        names = {*self._heads, *archived_names(workspace), *remote}
        names |= {store.lane.session for store in lanes.stores}
        for name in [named_session(self._sessions, only, names)] if only else sorted(names):
            store = self._sessions.store(Session(name, name))
            is_known = name in self._heads or name in remote or name in archived_names(workspace)
            if is_known and not choice.writer:
                for look in (self._in_force, self._archived, self._kept_aside):
                    self._attempt(look, store, f"session `{name:.80}`")
            for lane in lanes.stores:
                if lane.lane.session != name:
                    continue
                if lane.is_trusted or self._untrusted:
                    self._attempt(self._in_lane, lane, f"the lane of {lane.author}")
                else:
                    hidden_lanes += 1
        notes = tuple(dict.fromkeys(self._notes))
        return Histories(tuple(self._searchable), notes, self._unread, hidden_lanes)

    def _attempt(self, look: Callable[[Any], None], store: SessionStore, what: str) -> None:
        try:
            look(store)
        except GitguardError as error:
            self._notes.append(f"{what} was not searched: {error.message}")
            self._unread += not isinstance(error, Untrusted)

    def _in_lane(self, store: LaneStore) -> None:
        """Look at a lane, which is read anew each time."""
        history = self._foreign(store, store.lane.commit)
        self._searchable.append(history.replace(is_ours=store.is_trusted, writer=store.lane.writer))

    def _in_force(self, store: SessionStore) -> None:
        anchors = AnchorFile(store.workspace.anchor_folder(store.session))
        anchor = anchors.read()
        branch_head = self._heads.get(store.session.name, "")
        # The ref is where this machine left it, so no other look at the branch is needed.
        if anchor is not None and branch_head and branch_head == anchor.committed:
            self._searchable.append(self._own(store, anchors, anchor))
            return
        head = store.chain.head()
        refusal = reading_problem(head, store.chain.ref)
        if head.committed and head.standing != GONE:
            # What this machine wrote is still there where somebody moved the branch.
            self._searchable.append(self._own(store, anchors, head.own_anchor))
            if refusal is not None:
                self._note_foreign(store, refusal)
            if self._untrusted and head.id not in ("", head.committed):
                self._searchable.append(self._foreign(store, head.id))
        elif refusal is not None and not self._untrusted:
            raise refusal
        elif head.id:
            self._searchable.append(self._foreign(store, head.id))

    def _note_foreign(self, store: SessionStore, refusal: GitguardError) -> None:
        name = store.session.name
        reason = f"only what this machine wrote was searched: {refusal.message}"
        self._notes.append(f"session `{name:.80}`: {reason}")
        self._unread += 1

    def _archived(self, store: SessionStore) -> None:
        anchors = AnchorFile(store.workspace.anchor_folder(store.session))
        for anchor in store.chain.archived() if anchors.has_aside else ():
            history = self._own(store, anchors.aside(anchor.committed), anchor)
            self._searchable.append(history.replace(archived=anchor.committed))

    def _kept_aside(self, store: SessionStore) -> None:
        """Look at what was set aside and is no archived session of this machine."""
        if self._untrusted:
            ours = {anchor.committed for anchor in store.chain.archived()}
            for commit in store.chain.archives().values():
                if commit not in ours:
                    history = self._foreign(store, commit)
                    self._searchable.append(history.replace(archived=commit))

    def _foreign(self, store: SessionStore, commit: str) -> IndexedHistory:
        links = store.chain.links(commit, None, way_out=LEAVE)
        walked = self._walked(store, links, before=Before(), of=0, end="")
        key = walked.key or store.session.key
        index = new_index(Label(key, self._rules), walked.collected, commit, walked.sequence)
        return IndexedHistory(key, index, is_ours=False, joins=walked.joins)

    def _own(self, store: SessionStore, anchors: AnchorFile, anchor: Anchor) -> IndexedHistory:
        kept = self._kept(anchors)
        if kept is not None and kept.head == anchor.committed:
            return IndexedHistory(kept.label.session, kept, anchors=anchors)
        index = self._extended(store, anchor, kept) if kept is not None else None
        if index is None:
            links = store.chain.links(anchor.committed, anchor)
            walked = self._walked(store, links, before=Before(), of=anchor.sequence, end="")
            label = Label(walked.key or store.session.key, self._rules)
            index = new_index(label, walked.collected, anchor.committed, anchor.sequence)
            if walked.is_damaged:
                return IndexedHistory(label.session, index, anchors=anchors)
        _keep(store, anchors, anchor, kept=kept, index=index)
        return IndexedHistory(index.label.session, index, anchors=anchors)

    def _kept(self, anchors: AnchorFile) -> Index | None:
        try:
            contents = [files.read_bytes(path, limit=_LIMIT) for path in anchors.index_paths]
        except GitguardError:
            return None
        texts, records = contents
        index = read_index(texts or b"", records) if records else None
        return index if index is not None and index.label.rules == self._rules else None

    def _extended(self, store: SessionStore, anchor: Anchor, kept: Index) -> Index | None:
        """Return an index up to the anchor; None where the history does not lead to its end."""
        new = anchor.sequence - kept.sequence
        if new <= 0:
            return None
        if new > _FEW:
            links = store.chain.links(anchor.committed, anchor, end_at=(kept.head,))
        else:
            links = _newest_links(store, anchor, new + 1, kept.head)
        walked = self._walked(store, links, before=kept.before(), of=new, end=kept.head)
        if not walked.met_end or walked.is_damaged:
            return None
        return extended(kept, walked.collected, anchor.committed, anchor.sequence)

    def _walked(
        self, store: SessionStore, links: Iterator[ChainLink], before: Before, of: int, end: str
    ) -> _Walked:
        """Collect checkpoints down to a commit, without those that cannot be read."""
        sequence, key, count = 0, "", 0
        joins: list[str] = []
        met_end = is_damaged = False
        with store.repository().reader() as reader:
            collector = Collector(store.workspace.redactor.text, StateReader(reader))
            for link in links:
                if link.problems and count:
                    self._note_damage(store, link)
                    is_damaged = True
                    continue
                verified = refuse(link)
                met_end = link.id == end
                if met_end:
                    break
                if not count:
                    sequence, key = verified.checkpoint.sequence, verified.checkpoint.session_key
                collector.add(verified.checkpoint, link)
                joins += [link.id] if verified.checkpoint.seen else []
                count += 1
                self._tell(count, max(of, count))
        return _Walked(
            collected=collector.collected(before),
            sequence=sequence,
            key=key,
            met_end=met_end,
            is_damaged=is_damaged,
            joins=frozenset(joins),
        )

    def _note_damage(self, store: SessionStore, link: ChainLink) -> None:
        """Say that a checkpoint was not searched; the walk ends where its commit cannot be read."""
        where = f"commit {link.id[:12]} and before it"
        missing = link.checkpoint.name if link.checkpoint else where
        name = store.session.name
        reason = link.problems[0].message
        self._notes.append(f"session `{name:.80}` was not searched at {missing}: {reason}")
        self._unread += 1


def _newest_links(store: SessionStore, anchor: Anchor, most: int, end: str) -> Iterator[ChainLink]:
    with store.repository().reader() as reader:
        walk = Verification(reader, store.session)
        yield from walk.links(anchor.committed, anchor, most=most, end_at=(end,))


def _keep(
    store: SessionStore, anchors: AnchorFile, anchor: Anchor, kept: Index | None, index: Index
) -> None:
    """Write an index where that is possible; a search needs it only to be fast the next time."""
    try:
        with store.lock(timeout=_PATIENCE):
            now = anchors.read()
            # A purge or a removal may have come between: then nothing of before may be kept.
            if now is None or now.committed != anchor.committed:
                return
            # Whoever dies between the two leaves files that do not fit, and so no index.
            before = (kept.texts, kept.records) if kept is not None else (b"", b"")
            after = (index.texts, index.records)
            for path, old, new in zip(anchors.index_paths, before, after, strict=True):
                if not old or not new.startswith(old) or _size(path) != len(old):
                    files.write_bytes(path, new, settled=False)
                elif len(new) > len(old):
                    files.append(path, new[len(old) :])
    except GitguardError:
        return


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return -1
