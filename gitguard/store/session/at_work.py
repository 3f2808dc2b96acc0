"""Whether another conversation is at work: the one place where that is decided.

It is at work only inside a turn of a process that lives. It is over when its end was seen or its
process is gone, however young it is. Where nothing tells of the process, ten minutes count.
"""

from __future__ import annotations

from functools import partial

from gitguard.model.text import seconds
from gitguard.model.value import Value
from gitguard.store.disk.processes import is_running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitguard.store.session.host_session import HostSession

BUSY, PERHAPS, OVER = "busy", "perhaps", "over"
RUNS, UNKNOWN, ENDED, REPLACED, GONE, STOPPED, SILENT = (
    *("its process runs and its turn has not ended", "nothing tells whether its process runs"),
    *("no turn of it runs", "the host went on from it", "its process is gone"),
    *("its transcript says that its turn was cut off", "no sign of it came for ten minutes"),
)
_PATIENCE = 600.0
"""Seconds without a sign after which a turn counts as over whose process nobody knows."""


class AtWork(Value):
    """Whether a conversation is at work, and what shows it."""

    standing: str
    """busy, perhaps or over."""
    reason: str


def judge_work(
    *,
    in_turn: bool,
    runs: bool | None,
    silent_for: float,
    is_stopped: Callable[[], bool],
    is_replaced: bool = False,
) -> AtWork:
    """Say whether a conversation is at work.

    runs is whether its process lives, None where that is not known, and silent_for the seconds
    since its last sign. is_replaced says that the host began the asking conversation in its place.
    """
    if not in_turn:
        return AtWork(OVER, ENDED)
    if runs is False:
        return AtWork(OVER, GONE)
    if is_replaced:
        return AtWork(OVER, REPLACED)
    if is_stopped():
        return AtWork(OVER, STOPPED)
    if runs:
        return AtWork(BUSY, RUNS)
    return AtWork(PERHAPS, UNKNOWN) if silent_for < _PATIENCE else AtWork(OVER, SILENT)


def process_runs(process: str, last_process: str) -> bool | None:
    """Say whether the process of a conversation's newest turn runs; None where nothing tells.

    Both are as in the conversation's record.
    """
    if process:
        return is_running(process)
    return is_running(last_process) or None


def at_work_beside(
    records: Mapping[str, HostSession],
    own: str,
    now: float,
    *,
    is_stopped: Callable[[HostSession], bool],
    last_sign: Callable[[str], float] = lambda _: 0,
    process: str = "",
) -> dict[str, AtWork]:
    """Return the conversations of a session that are, or may be, at work beside one.

    own is the host's id of that one, empty for a person, and process the one that it comes from. A
    conversation that the host cleared or resumed goes on from the one before: from one in its own
    process, and from those of which nothing tells that they run. last_sign tells when the newest
    event of a conversation came, in Unix seconds.
    """
    continues = own in records and records[own].continues
    beside: dict[str, AtWork] = {}
    for key, record in records.items():
        if key == own or not record.is_in_turn:
            continue
        runs = process_runs(record.process, record.last_process)
        is_in_place = bool(process) and process in (record.process, record.last_process)
        is_before = continues and record.last_use <= records[own].started_at
        sign = max(seconds(record.last_use), last_sign(key) if runs is None else 0)
        work = judge_work(
            in_turn=record.turn_since > 0,  # what no prompt began is no turn
            runs=runs,
            silent_for=now - sign,
            is_stopped=partial(is_stopped, record),
            is_replaced=is_before and (runs is None or is_in_place),
        )
        if work.standing != OVER:
            beside[key] = work
    return beside
