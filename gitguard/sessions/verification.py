"""Verifies whole histories: every checkpoint of a session, and what was set aside of it."""

from __future__ import annotations

from gitguard.errors import GitguardError, Tampered
from gitguard.sessions.choice import is_unknown, refuse_unknown
from gitguard.sessions.signature_report import Signatures
from gitguard.sessions.verification_report import (
    HistoryFinding,
    StateVerification,
    VerificationReport,
    finding_of,
    findings_of,
)
from gitguard.store.session.anchor import archived_names
from gitguard.store.session.chain_check import GO_ON, LEAVE
from gitguard.store.session.naming import Session
from gitguard.store.session.reading_once import ReadingOnce
from gitguard.store.session.standing import (
    NONE,
    REMOTE_ONLY,
    SYMBOLIC,
    UNTRUSTED,
    Head,
    refuse_head,
)
from gitguard.store.session.store import SessionStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gitguard.store.session.anchor import Anchor

    Tell = Callable[[int, int], None]

UNKNOWN = "unknown"
_EVERY = 256
"""Checkpoints between two words on how far it is."""


def verify(store: SessionStore, *, tell: Tell | None = None) -> VerificationReport:
    """Look at a session's whole history; nothing is changed, and a finding does not end the walk.

    Signatures are checked where the user's config says `sign`. tell is called with how many
    checkpoints are verified, and of how many.
    """
    refuse_unknown(store)
    return verify_known(store, tell)


def verify_each(
    any_store: SessionStore, keys: Mapping[str, str], *, tell: Tell | None = None
) -> list[VerificationReport]:
    """Look at all sessions, each by itself: what is wrong with one hides nothing of another.

    keys has the sessions' keys by their names; an archived session is known by its name. Refs are
    listed once. A session of ours in which something is found is looked at again by itself, since
    it may have been written meanwhile. tell is called with how many checkpoints of all sessions are
    verified, and of how many, as far as anchors say.
    """
    with ReadingOnce(any_store.workspace):
        stores = _stores_of(any_store, keys)
        progress = _Progress(tell, sum(map(_expected, stores)))
        reports = []
        for store in stores:
            reports.append(_verify_alone(store, progress.tell))
            progress.add(reports[-1].checkpoints)
    return [
        _verify_alone(SessionStore(store.workspace, store.session, store.config), None)
        if report.findings and store.workspace.has_record_of(store.session)
        else report
        for store, report in zip(stores, reports, strict=True)
    ]


class _Progress:
    """How many checkpoints of several sessions are verified."""

    def __init__(self, tell: Tell | None, expected: int) -> None:
        """Begin; expected is how many there are, as far as it is known."""
        self._tell = tell
        self._expected = expected
        self._done = 0

    def tell(self, done: int, _of: int) -> None:
        """Tell of checkpoints of the session that is being verified."""
        if self._tell is not None:
            done += self._done
            self._tell(done, max(done, self._expected))

    def add(self, checkpoints: int) -> None:
        """Count a session that is verified, and tell."""
        self.tell(checkpoints, checkpoints)
        self._done += checkpoints


def _expected(store: SessionStore) -> int:
    """Return how many checkpoints a session has by its anchor."""
    try:
        anchor = store.chain.anchors.read()
    except GitguardError:
        return 0
    return anchor.sequence if anchor else 0


def _verify_alone(store: SessionStore, tell: Tell | None) -> VerificationReport:
    session, ref = store.session.key, store.chain.ref
    try:
        if not is_unknown(store):
            return verify_known(store, tell)
        folder = store.workspace.place.relative(store.workspace.session_folder(store.session))
        note = f"there is no state and no checkpoint, only the folder `{folder}`"
        return VerificationReport(session, ref, NONE, 0, notes=(note,))
    except GitguardError as error:
        return VerificationReport(session, ref, UNKNOWN, 0, (finding_of(error),))


def verify_known(store: SessionStore, tell: Tell | None = None) -> VerificationReport:
    """Look at the history of a session that somebody knows of, as `verify` does."""
    return store.at_one_moment(
        lambda: _Verifying(store, tell).report(),
        accuses=lambda report: bool(report.findings),
        takes_long=True,
    )


class _Verifying:
    """One look at one session."""

    def __init__(self, store: SessionStore, tell: Tell | None) -> None:
        self._store = store
        self._chain = store.chain
        self._tell = tell or (lambda _done, _of: None)
        self._signatures = Signatures(store.signatures()) if store.config.sign else None
        self._states = StateVerification(store.session)
        self._seen: set[str] = set()
        self._findings: list[HistoryFinding] = []
        self._notes: list[str] = []
        self._put_away = self._chain.archived()
        self._kept_aside = self._chain.archives()
        self._findings += map(finding_of, self._chain.damaged().values())

    def report(self) -> VerificationReport:
        head, standing = self._head()
        for commit, anchor in (*_histories(head), *self._archived()):
            self._findings += self._walk(commit, anchor, self._signatures)
        if self._signatures is not None:
            self._findings += self._signatures.findings()
            self._notes += self._signatures.notes()
        count = len(self._seen)
        self._look_at_archives()
        self._notes += [
            f"`{ref}` has the branch's short name, too; in git use the full `{self._chain.ref}`"
            for ref in self._chain.shadows()
        ]
        return VerificationReport(
            self._store.session.key,
            self._chain.ref,
            standing,
            count,
            tuple(dict.fromkeys(self._findings)),
            tuple(dict.fromkeys(self._notes)),
            is_anchored=not self._is_clone,
            signatures_checked=self._signatures is not None,
        )

    def _head(self) -> tuple[Head, str]:
        """Return the head as far as it can be told, with what is wrong with it found."""
        try:
            head = self._chain.head()
        except GitguardError as error:
            self._findings.append(finding_of(error))
            return Head(UNKNOWN, anchor=self._anchor()), UNKNOWN
        refusal = refuse_head(head, self._chain.ref)
        if self._is_clone and head.standing in (UNTRUSTED, REMOTE_ONLY):
            self._notes += self._notes_on_clone(head)
        elif refusal is not None:
            self._findings.append(finding_of(refusal, commit=head.id))
        elif head.standing == NONE:
            archived = (
                f"it is archived; `gitguard session reopen {self._store.session.key:.80}` reopens "
                "it"
            )
            self._notes.append(archived if self._put_away else "there is no checkpoint yet")
        return head, head.standing

    @property
    def _is_clone(self) -> bool:
        """Whether gitguard was never set up here, as in CI, so that there cannot be an anchor."""
        return not self._store.workspace.is_initialised

    def _notes_on_clone(self, head: Head) -> list[str]:
        notes = [
            f"there is no anchor to compare `{head.remote or self._chain.ref}` with, because "
            "gitguard "
            "was never set up in this clone; a history rewritten as a whole would pass"
        ]
        if self._signatures is None:
            notes.append("signatures are not checked: `sign` is not set in your own config.yaml")
        return notes

    def _anchor(self) -> Anchor | None:
        try:
            return self._chain.anchors.read()
        except GitguardError:
            return None  # which is why there is no head

    def _walk(
        self, commit: str, anchor: Anchor | None, signatures: Signatures | None = None
    ) -> Iterator[HistoryFinding]:
        expected = anchor.sequence if anchor else 0
        way_out = GO_ON if anchor else LEAVE
        every = _EVERY if signatures is None else 1
        for link in self._chain.links(commit, anchor, end_at=self._seen, way_out=way_out):
            self._seen.add(link.id)
            if link.checkpoint is not None:
                expected = max(expected, link.checkpoint.sequence)
                if signatures is not None:
                    signatures.look_at(link.checkpoint)
                if link.is_cut:
                    self._note_cut(link.checkpoint.name, ends=link.ends_here)
            yield from findings_of(link, self._states)
            if len(self._seen) % every == 0:
                self._tell(len(self._seen), expected)

    def _note_cut(self, name: str, *, ends: bool) -> None:
        what = "the history ends" if ends else "git shows the history only"
        where = f"at {name}" if ends else f"from {name} on"
        self._notes.append(f"{what} {where}, because the repository is shallow there")

    def _archived(self) -> Iterator[tuple[str, Anchor]]:
        """Yield the heads of archived histories with their anchors; one that is gone is found."""
        for anchor in self._put_away:
            ref = self._chain.archive_of(anchor.committed)
            if self._kept_aside.get(ref) == anchor.committed:
                yield anchor.committed, anchor
                continue
            gone = Tampered(
                f"`{ref}` is not where this machine archived {anchor.committed[:12]}",
                f"Put it back with `git update-ref {ref} {anchor.committed}` if the commit is "
                "still there",
            )
            self._findings.append(finding_of(gone, commit=anchor.committed))

    def _look_at_archives(self) -> None:
        """Note what is wrong with what was set aside; nothing depends on it, or is built on it."""
        for ref, commit in sorted(self._kept_aside.items()):
            self._notes += [
                f"the archived `{ref}` is damaged: {finding.problem}"
                for finding in self._walk(commit, None)
            ]


def _histories(head: Head) -> list[tuple[str, Anchor | None]]:
    """Return the heads to walk from, each with the anchor that it is held against."""
    heads = [(head.committed, head.anchor)] if head.committed else []
    is_another = head.id not in ("", head.committed) and head.standing != SYMBOLIC
    return heads + ([(head.id, None)] if is_another else [])


def _stores_of(any_store: SessionStore, keys: Mapping[str, str]) -> list[SessionStore]:
    names = sorted({*keys, *archived_names(any_store.workspace)})
    sessions = (Session(keys.get(name, name), name) for name in names)
    stores = [SessionStore(any_store.workspace, session, any_store.config) for session in sessions]
    return [store for store in stores if store.session.name in keys or _is_archived(store)]


def _is_archived(store: SessionStore) -> bool:
    return bool(store.chain.archived() or store.chain.damaged())
