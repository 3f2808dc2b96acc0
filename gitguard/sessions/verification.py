"""Verifies whole histories: every checkpoint of a session, and what was set aside of it."""

from __future__ import annotations

from collections import Counter

from gitguard.errors import (
    GitguardError,
    InvalidDocument,
    InvalidInput,
    NewerFormat,
    Tampered,
    Untrusted,
)
from gitguard.model.codec import STATE_FILE
from gitguard.model.record import read_field
from gitguard.model.similar_json import SimilarObjects
from gitguard.model.text import counted
from gitguard.model.value import Value
from gitguard.sessions.choice import is_unknown, refuse_unknown
from gitguard.state.task import TaskState, read_state
from gitguard.store.git.signature import BAD, UNSIGNED
from gitguard.store.session.anchor import archived_names
from gitguard.store.session.chain_check import GO_ON, LEAVE
from gitguard.store.session.reading_once import ReadingOnce
from gitguard.store.session.standing import (
    NONE,
    REMOTE_ONLY,
    SYMBOLIC,
    UNTRUSTED,
    Head,
    head_problem,
)
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.git.signature import SignatureVerdict
    from gitguard.store.git.signing import SignatureCheck
    from gitguard.store.session.anchor import Anchor
    from gitguard.store.session.chain_check import ChainLink

    Tell = Callable[[int, int], None]

UNKNOWN = "unknown"
_EVERY = 256
"""Checkpoints between two words on how far it is."""
_STATE_WAY_OUT = "Leave it as it is: later checkpoints are complete in themselves"
_SIGNATURE_WAY_OUT = (
    "Look at it with `gitguard show`; if it is not yours, go back with `gitguard restore`"
)


class HistoryFinding(Value):
    """One thing that is wrong: with a checkpoint, or with the branch as a whole."""

    checkpoint: str
    """Its name, empty where it is not known or not about one."""
    commit: str
    problem: str
    way_out: str
    exit_code: int
    """Of the error that this is where it is met in use."""

    @property
    def lines(self) -> list[str]:
        """Return the finding as a person reads it."""
        place = f"{self.checkpoint or 'commit'} {self.commit[:12]}: " if self.commit else ""
        return [f"{place}{self.problem}", *([f"  {self.way_out}"] if self.way_out else [])]


class VerificationReport(Value):
    """What verifying one session has found."""

    session: str
    branch: str
    """The full ref."""
    standing: str
    """How the branch stands to what this machine wrote: none, ours, advanced, moved, …"""
    checkpoints: int
    """How many were looked at."""
    findings: tuple[HistoryFinding, ...] = ()
    notes: tuple[str, ...] = ()
    """What is worth knowing and wrong with nothing."""
    is_anchored: bool = True
    """Whether the history was held against what this machine wrote; a clone in CI cannot."""
    signatures_checked: bool = False

    @property
    def lines(self) -> list[str]:
        """Return the report as a person reads it."""
        outcome = counted(len(self.findings), "finding") if self.findings else "nothing is wrong"
        if not self.is_anchored:
            outcome = f"{self._basis} only; {outcome if self.findings else 'no finding'}"
        lines = [f"{self.session}: {counted(self.checkpoints, 'checkpoint')} verified, {outcome}"]
        lines += [f"  {line}" for finding in self.findings for line in finding.lines]
        return lines + [f"  Note: {note}" for note in self.notes]

    @property
    def _basis(self) -> str:
        return "structure and signatures" if self.signatures_checked else "structure"

    def to_document(self) -> dict[str, Any]:
        """Return the report as JSON says it."""
        document = {name: getattr(self, name) for name in self.field_names}
        return {**document, "findings": list(self.findings), "notes": list(self.notes)}


def finding_of(error: GitguardError, *, checkpoint: str = "", commit: str = "") -> HistoryFinding:
    """Return an error as a finding."""
    return HistoryFinding(
        checkpoint, commit, error.message, way_out=error.hint, exit_code=error.exit_code
    )


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
        self._verified = 0

    def tell(self, count: int, _total: int) -> None:
        """Tell of checkpoints of the session that is being verified."""
        if self._tell is not None:
            count += self._verified
            self._tell(count, max(count, self._expected))

    def add(self, checkpoints: int) -> None:
        """Count a session that is verified, and tell."""
        self.tell(checkpoints, checkpoints)
        self._verified += checkpoints


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
        return VerificationReport(
            session, ref, UNKNOWN, checkpoints=0, findings=(finding_of(error),)
        )


def verify_known(store: SessionStore, tell: Tell | None = None) -> VerificationReport:
    """Look at the history of a session that somebody knows of, as `verify` does."""
    return store.at_one_moment(
        lambda: _Verifying(store, tell).report(),
        recheck_if=lambda report: bool(report.findings),
        takes_long=True,
    )


class _Verifying:
    """One look at one session."""

    def __init__(self, store: SessionStore, tell: Tell | None) -> None:
        self._store = store
        self._chain = store.chain
        self._tell = tell or (lambda _count, _total: None)
        self._signatures = Signatures(store.signatures()) if store.config.sign else None
        self._states = StateVerification(store.session)
        self._is_clone = not store.workspace.is_initialised
        """Whether gitguard was never set up here, as in CI, so that there cannot be an anchor."""
        self._seen: set[str] = set()
        self._findings: list[HistoryFinding] = []
        self._notes: list[str] = []
        self._put_away = self._chain.archived()
        self._kept_aside = self._chain.archives()
        self._findings += map(finding_of, self._chain.damaged().values())

    def report(self) -> VerificationReport:
        head, standing = self._head()
        heads = [(head.committed, head.anchor)] if head.committed else []
        if head.id not in ("", head.committed) and head.standing != SYMBOLIC:
            heads.append((head.id, None))
        for commit, anchor in (*heads, *self._archived()):
            self._findings += self._walk(commit, anchor, self._signatures)
        if self._signatures is not None:
            self._findings += self._signatures.findings()
            self._notes += self._signatures.notes()
        count = len(self._seen)
        # Nothing depends on what was set aside, or is built on it, so what is wrong is only noted.
        for ref, commit in sorted(self._kept_aside.items()):
            self._notes += [
                f"the archived `{ref}` is damaged: {finding.problem}"
                for finding in self._walk(commit, None)
            ]
        self._notes += [
            f"`{ref}` has the branch's short name, too; in git use the full `{self._chain.ref}`"
            for ref in self._chain.shadows()
        ]
        return VerificationReport(
            session=self._store.session.key,
            branch=self._chain.ref,
            standing=standing,
            checkpoints=count,
            findings=tuple(dict.fromkeys(self._findings)),
            notes=tuple(dict.fromkeys(self._notes)),
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
        refusal = head_problem(head, self._chain.ref)
        if self._is_clone and head.standing in (UNTRUSTED, REMOTE_ONLY):
            self._notes += self._notes_on_clone(head)
        elif refusal is not None:
            self._findings.append(finding_of(refusal, commit=head.id))
        elif head.standing == NONE:
            key = self._store.session.key
            archived = f"it is archived; `gitguard session reopen {key:.80}` reopens it"
            self._notes.append(archived if self._put_away else "there is no checkpoint yet")
        return head, head.standing

    def _notes_on_clone(self, head: Head) -> list[str]:
        notes = [
            f"there is no anchor to compare `{head.remote or self._chain.ref}` with, because "
            "gitguard was never set up in this clone; a history rewritten as a whole would pass"
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
                    signatures.check(link.checkpoint)
                if link.is_cut:
                    self._note_cut(link.checkpoint.name, ends=link.ends_here)
            name = link.checkpoint.name if link.checkpoint else ""
            state = self._states.judge(link)
            for error in (*link.problems, *([state] if state else [])):
                yield finding_of(error, checkpoint=name, commit=link.id)
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


def _stores_of(any_store: SessionStore, keys: Mapping[str, str]) -> list[SessionStore]:
    names = sorted({*keys, *archived_names(any_store.workspace)})
    sessions = (Session(keys.get(name, name), name) for name in names)
    stores = [SessionStore(any_store.workspace, session, any_store.config) for session in sessions]
    return [store for store in stores if store.session.name in keys or _is_archived(store)]


def _is_archived(store: SessionStore) -> bool:
    return bool(store.chain.archived() or store.chain.damaged())


# States


class StateVerification:
    """Judges the state in each checkpoint of a session; the same state is read once."""

    def __init__(self, session: Session) -> None:
        """Judge for a session."""
        self._session = session
        self._problems: dict[str, GitguardError | None] = {}
        self._last: dict[str, Any] = {}
        self._documents = SimilarObjects(what="the checkpoint's state")

    def judge(self, link: ChainLink) -> GitguardError | None:
        """Say why the state in a checkpoint could not be gone on with."""
        blob, data = link.files.get(STATE_FILE), link.contents.get(STATE_FILE)
        if blob is None:
            return None  # there is none, which is a finding already
        if blob not in self._problems and data is not None:
            self._problems[blob] = self._judge(data)
        return self._problems.get(blob)

    def _judge(self, data: bytes) -> GitguardError | None:
        try:
            document = self._documents.load(data)
            _check(document, self._last)
            self._last = document
        except NewerFormat as error:
            return error
        except InvalidDocument as error:
            return Tampered(error.message, _STATE_WAY_OUT)
        if not self._session.is_known_as(document["session_id"]):
            return Tampered(
                f"its state belongs to the session `{document['session_id']:.80}`", _STATE_WAY_OUT
            )
        return None


def _check(document: dict[str, Any], last: dict[str, Any]) -> None:
    """Refuse a document that is no state; last is one that was read before, or empty.

    From one checkpoint to the next most of a state stays, and reading it is most of the work: so
    only what differs is read.
    """
    changed = [name for name in document if name not in last or document[name] != last[name]]
    comparable = last.keys() <= document.keys() and "schema_version" not in changed
    if not comparable or not TaskState.kinds.keys() >= set(changed):
        read_state(document)
        return
    parts = {name: document[name] for name in changed}
    for name, value in parts.items():
        if isinstance(value, list):
            parts[name] = _after_same(value, last.get(name))
    for name, value in parts.items():
        try:
            read_field(TaskState.kinds[name], value, name)
        except InvalidInput as error:
            raise InvalidDocument(f"the state is wrong: {error.message}") from error


def _after_same(items: list[Any], previous: Any) -> list[Any]:
    """Return the items from the first on that another list has not at the same place."""
    if not isinstance(previous, list):
        return items
    pairs = enumerate(zip(items, previous, strict=False))
    same = next(
        (n for n, (item, earlier) in pairs if item != earlier), min(len(items), len(previous))
    )
    return items[same:]


def problem_of(reports: list[VerificationReport]) -> GitguardError | None:
    """Return the error with which verifying ends, None when nothing is wrong."""
    findings = [finding for report in reports for finding in report.findings]
    if not findings:
        return None
    error = Tampered(
        f"{counted(len(findings), 'finding')} in {sum(bool(r.findings) for r in reports)} of "
        f"{counted(len(reports), 'session')}",
        "Each finding names its way out; nothing was changed",
    )
    codes = [finding.exit_code for finding in findings]
    error.exit_code = Tampered.exit_code if Tampered.exit_code in codes else codes[0]
    return error


# Signatures


class Signatures:
    """Judges the signatures of one session.

    Checkpoints that are not signed and older than all signed ones come from before signing was
    switched on: they are counted. A later one is a finding.
    """

    def __init__(self, check: SignatureCheck) -> None:
        """Judge with the user's settings."""
        self._check = check
        self._verdicts: list[tuple[Checkpoint, SignatureVerdict]] = []

    def check(self, checkpoint: Checkpoint) -> None:
        """Check one checkpoint, which takes milliseconds where it is signed."""
        self._verdicts.append(
            (checkpoint, self._check.verdict(checkpoint.id, checkpoint.signature))
        )

    def findings(self) -> Iterator[HistoryFinding]:
        """Yield what is wrong, in the order in which the checkpoints came."""
        first = self._first_signed
        for checkpoint, verdict in self._verdicts:
            problem = _signature_problem(verdict)
            if problem is not None and checkpoint.sequence >= first:
                yield finding_of(problem, checkpoint=checkpoint.name, commit=checkpoint.id)

    def notes(self) -> Iterator[str]:
        """Yield who signed how many, and how many are from before."""
        signers = Counter(v.signer or v.key for _, v in self._verdicts if v.is_good)
        if signers:
            yield "signed: " + ", ".join(f"{n:,} by {who}" for who, n in signers.most_common())
        first = self._first_signed
        before = sum(checkpoint.sequence < first for checkpoint, _ in self._verdicts)
        if before:
            yield f"not signed, from before signing was switched on: {before:,}"

    @property
    def _first_signed(self) -> float:
        """The lowest number of a signed checkpoint; no number is as high where none is."""
        signed = (c.sequence for c, verdict in self._verdicts if verdict.standing != UNSIGNED)
        return min(signed, default=float("inf"))


def _signature_problem(verdict: SignatureVerdict) -> GitguardError | None:
    if verdict.is_good:
        return None
    if verdict.standing == UNSIGNED:
        return Untrusted("it is not signed, but an older one is", _SIGNATURE_WAY_OUT)
    kind = Tampered if verdict.standing == BAD else Untrusted
    return kind(f"its signature is not accepted: {verdict.reason}", _SIGNATURE_WAY_OUT)
