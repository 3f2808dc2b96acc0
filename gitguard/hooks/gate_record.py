"""What the gate's decision means for a conversation's record: its halt, override and compactions.

Each function takes a record and returns the next one; nothing is written here.
"""

from __future__ import annotations

from gitguard.hooks.gate_decision import HALT, HALT_STATUS, GateVerdict, decide, halt_reason
from gitguard.hooks.rises import OVERRIDE_ROOM
from gitguard.model.text import timestamp
from gitguard.pressure.readings import count_compactions, measure_compaction, with_reading
from gitguard.store.session.host_session import Halt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config
    from gitguard.model.events import Reading, Transcript
    from gitguard.model.pressure import Pressure
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.store import Saved

_MARK_LAG = 60.0
"""Seconds after an event by which a host has written the mark of the same compaction."""


def judge(
    host_session: HostSession,
    pressure: Pressure | None,
    config: Config,
    *,
    unknown: str = "",
    **flags: bool,
) -> GateVerdict:
    """Decide for a conversation, with its halt and override taken into account.

    unknown says why a host that offers the pressure tells none, empty where it tells it.
    """
    share, halt = pressure.share if pressure and pressure.is_known else None, host_session.halt
    if halt is not None:
        # It ends with a compaction, a new conversation or an override, not with a better figure.
        return GateVerdict(HALT, True, True, HALT_STATUS, (halt_reason(halt),), share)
    lifted = host_session.override
    return decide(
        share,
        config.thresholds,
        overridden_to=lifted.pressure + OVERRIDE_ROOM if lifted else None,
        first_turn=pressure is not None and not pressure.is_known,
        unknown=unknown,
        assumption=pressure.window.assumption if pressure and pressure.is_assumed else "",
        **flags,
    )


def halted(host_session: HostSession, now: str, verdict: GateVerdict) -> HostSession:
    """Return the record of a conversation that the verdict halts, or has halted before."""
    if host_session.halt is not None:
        return host_session
    share = 1.0 if verdict.pressure is None else verdict.pressure
    return host_session.replace(halt=Halt(now, share, verdict.reasons[0]), override=None)


def saved_text(saved: Saved) -> str:
    """Say what became of a halt's checkpoint."""
    if saved.pending:
        return f"The state is saved; nothing is committed yet: {saved.pending}."
    if not saved.commit:
        return "State and summary are saved."
    return f"State and summary are saved in checkpoint {saved.sequence}."


def after_compaction(
    record: HostSession,
    config: Config,
    now: float,
    *,
    pushed: Reading | None = None,
    transcript: Transcript | None = None,
    model: str = "",
) -> HostSession:
    """Return the record after a compaction; the halt ends only if that brought it below critical.

    pushed is what the event says is left. Raises `InvalidDocument` when the transcript should tell
    and cannot be read.
    """
    compacted = record.compacted(now)
    if record.halt is None and pushed is None:
        return compacted
    left = measure_compaction(record, config, pushed, transcript, model)
    if left is None:
        return compacted
    reading, pressure = left
    compacted = with_reading(compacted, reading.replace(at=now))
    if record.halt is None or pressure.share < config.thresholds.critical:
        return compacted
    # An assumption keeps no halt; but an event without a model says nothing of the window at all.
    if pressure.is_assumed and pressure.window.model:
        return compacted
    why = f"pressure is {pressure.share:.2f} even after the compaction"
    return compacted.replace(halt=Halt(timestamp(now), pressure.share, why))


def notice_compaction(
    record: HostSession, config: Config, transcript: Transcript | None, model: str
) -> HostSession:
    """Return the record after a compaction of which only the transcript tells, if there was one.

    Hosts do not tell of every compaction's end. Raises `InvalidDocument` when the transcript does
    not read.
    """
    counted, at = count_compactions(record, transcript)
    # An event may have told of one that the transcript never had; then the numbers say too little.
    another = at > record.compacted_at + _MARK_LAG
    if counted.compactions <= counted.epoch and not another:
        return counted
    at = max(at, record.compacted_at)
    compacted = after_compaction(counted, config, at, transcript=transcript, model=model)
    return compacted.replace(epoch=max(counted.compactions, compacted.epoch))
