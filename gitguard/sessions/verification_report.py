"""Says what is wrong with a history, from what the store found in it."""

from __future__ import annotations

from gitguard.errors import (
    GitguardError,
    InvalidDocument,
    InvalidInput,
    NewerFormat,
    Tampered,
)
from gitguard.model.codec import STATE_FILE
from gitguard.model.record import read_field
from gitguard.model.similar_json import SimilarObjects
from gitguard.model.text import counted
from gitguard.model.value import Value
from gitguard.state.task import TaskState, read_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.store.session.chain_check import ChainLink
    from gitguard.store.session.naming import Session

_STATE_WAY_OUT = "Leave it as it is: later checkpoints are complete in themselves"


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
    return HistoryFinding(checkpoint, commit, error.message, error.hint, error.exit_code)


class StateVerification:
    """Judges the state in each checkpoint of a session; the same state is read once."""

    def __init__(self, session: Session) -> None:
        """Judge for a session."""
        self._session = session
        self._known: dict[str, GitguardError | None] = {}
        self._last: dict[str, Any] = {}
        self._documents = SimilarObjects(what="the checkpoint's state")

    def judge(self, link: ChainLink) -> GitguardError | None:
        """Say why the state in a checkpoint could not be gone on with."""
        blob, data = link.files.get(STATE_FILE), link.contents.get(STATE_FILE)
        if blob is None:
            return None  # there is none, which is a finding already
        if blob not in self._known and data is not None:
            self._known[blob] = self._judge(data)
        return self._known.get(blob)

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


def findings_of(link: ChainLink, states: StateVerification) -> Iterator[HistoryFinding]:
    """Yield everything that is wrong with one checkpoint."""
    name = link.checkpoint.name if link.checkpoint else ""
    state = states.judge(link)
    for error in (*link.problems, *([state] if state else [])):
        yield finding_of(error, checkpoint=name, commit=link.id)


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
