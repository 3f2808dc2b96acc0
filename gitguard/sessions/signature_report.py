"""Says what the signatures in a history are worth, checkpoint by checkpoint."""

from __future__ import annotations

from collections import Counter

from gitguard.errors import GitguardError, Tampered, Untrusted
from gitguard.sessions.verification_report import HistoryFinding, finding_of
from gitguard.store.git.signature import BAD, UNSIGNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.git.signature import SignatureVerdict
    from gitguard.store.git.signing import SignatureCheck

_WAY_OUT = "Look at it with `gitguard show`; if it is not yours, go back with `gitguard restore`"


class Signatures:
    """Judges the signatures of one session.

    Checkpoints that are not signed and older than all signed ones come from before signing was
    switched on: they are counted. A later one is a finding.
    """

    def __init__(self, check: SignatureCheck) -> None:
        """Judge with the user's settings."""
        self._check = check
        self._found: list[tuple[Checkpoint, SignatureVerdict]] = []

    def look_at(self, checkpoint: Checkpoint) -> None:
        """Check one checkpoint, which takes milliseconds where it is signed."""
        self._found.append((checkpoint, self._check.verdict(checkpoint.id, checkpoint.signature)))

    def findings(self) -> Iterator[HistoryFinding]:
        """Yield what is wrong, in the order in which the checkpoints came."""
        first = self._first_signed
        for checkpoint, verdict in self._found:
            problem = _problem_of(verdict)
            if problem is not None and checkpoint.sequence >= first:
                yield finding_of(problem, checkpoint=checkpoint.name, commit=checkpoint.id)

    def notes(self) -> Iterator[str]:
        """Yield who signed how many, and how many are from before."""
        signers = Counter(v.signer or v.key for _, v in self._found if v.is_good)
        if signers:
            yield "signed: " + ", ".join(f"{n:,} by {who}" for who, n in signers.most_common())
        first = self._first_signed
        before = sum(checkpoint.sequence < first for checkpoint, _ in self._found)
        if before:
            yield f"not signed, from before signing was switched on: {before:,}"

    @property
    def _first_signed(self) -> float:
        """The lowest number of a signed checkpoint; no number is as high where none is."""
        signed = (c.sequence for c, verdict in self._found if verdict.standing != UNSIGNED)
        return min(signed, default=float("inf"))


def _problem_of(verdict: SignatureVerdict) -> GitguardError | None:
    if verdict.is_good:
        return None
    if verdict.standing == UNSIGNED:
        return Untrusted("it is not signed, but an older one is", _WAY_OUT)
    kind = Tampered if verdict.standing == BAD else Untrusted
    return kind(f"its signature is not accepted: {verdict.reason}", _WAY_OUT)
