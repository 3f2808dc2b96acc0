"""The gate: before each major action, may the agent go on, and what has to be written first.

Decisions are pure and carry their reasons (references/design/contract.md, "The gate"). A *major
action* is a model call that can change the plan, a tool call that writes or deletes, any edit, or a
step that takes meaningful context. A *fresh checkpoint* is a state written after the last action
that changed it. What a decision means for a conversation's record, its halt, override and
compactions, is the record that follows. Rises of the pressure bring checkpoints and warnings, and
falls bring them back. Nothing is written here.
"""

from __future__ import annotations

from gitguard.model import triggers
from gitguard.model.events import FIRST_TURN
from gitguard.model.text import floored, timestamp
from gitguard.model.value import Value
from gitguard.pressure.gauge import (
    count_compactions,
    crosses_checkpoint,
    measure_compaction,
    with_reading,
)
from gitguard.store.session.host_session import Halt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config, Thresholds
    from gitguard.model.events import Pressure, Reading, Transcript
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.store import Saved

ASSESS_EVERY = 5
"""Tool calls after which hooks look at the pressure band of a conversation again."""
OVERRIDE_ROOM = 0.05
"""How far pressure may rise above that of an overridden halt before the next halt.

See references/design/contract.md, "Halt".
"""


def override_ends(override: Halt) -> float:
    """Return the pressure from which an override no longer holds."""
    return round(override.pressure + OVERRIDE_ROOM, 9)  # shares are decimal to people


def risen_to(record: HostSession, pressure: Pressure | None, config: Config) -> str:
    """Return the trigger of the checkpoint that pressure has risen to, empty where there is none.

    A reading that jumps past several levels brings one checkpoint, which is named after the
    gravest of them (references/design/policy.md, "Checkpoints of a rise").
    """
    if pressure is None:
        return ""
    gauge, last = config.gauge, record.checkpointed_tokens
    if _is_first_above(gauge.warn_critical, pressure, last):
        return triggers.AUTO_85
    if crosses_checkpoint(pressure, last, at=gauge.checkpoint_at, step=gauge.checkpoint_step):
        return triggers.AUTO_80
    if _is_first_above(gauge.warn_compact, pressure, last):
        return triggers.AUTO_75
    return ""


def _is_first_above(level: float, pressure: Pressure, last_tokens: float) -> bool:
    """Say whether pressure is at or above a level, and the last checkpoint was taken below it."""
    return pressure.share >= level and last_tokens < level * pressure.window.tokens


def rearmed(record: HostSession, pressure: Pressure, config: Config) -> HostSession:
    """Return the record after a fall, from which on warnings and checkpoints are due again."""
    if pressure.source == FIRST_TURN:
        return record
    gauge, share, window = config.gauge, pressure.share, pressure.window.tokens
    saved = record.checkpointed_tokens
    if gauge.is_below(share, min(gauge.warn_compact, gauge.checkpoint_at)):
        saved = -1
    elif saved >= gauge.warn_critical * window and gauge.is_below(share, gauge.warn_critical):
        saved = gauge.warn_compact * window
    warned = min(record.warned, gauge.warning_at(share, record.warned))
    told_tokens, advised_tokens = (
        0 if gauge.is_below(share, tokens / window) else tokens
        for tokens in (record.told_tokens, record.advised_tokens)
    )
    return record.replace(
        checkpointed_tokens=saved,
        warned=warned,
        told_tokens=told_tokens,
        advised_tokens=advised_tokens,
    )


def is_calm(record: HostSession, pressure: Pressure | None, config: Config) -> bool:
    """Say whether pressure asks for nothing after a tool call: no checkpoint, and no warning."""
    if pressure is None:
        return True
    is_said = config.gauge.warning_at(pressure.share, record.warned) <= record.warned
    return is_said and not is_to_keep(record, pressure, config)


def is_to_keep(record: HostSession, pressure: Pressure, config: Config) -> bool:
    """Say whether pressure has risen to a checkpoint, or fallen so that one is due again."""
    has_fallen = rearmed(record, pressure, config) != record
    return has_fallen or bool(risen_to(record, pressure, config))


def has_shrunk(record: HostSession, pressure: Pressure) -> bool:
    """Say whether less is used than when usage was looked at last, as after a host's pruning."""
    return pressure.used < max(record.paced_tokens, record.paced_upto)


def checkpointed(record: HostSession, pressure: Pressure) -> HostSession:
    """Remember the usage at which such a checkpoint was taken."""
    return record.replace(checkpointed_tokens=pressure.used)


CONTINUE = "continue"
"""Below warning."""
WARN = "warn"
"""From warning: state and summary have to be fresher."""
COMPRESS = "compress"
"""From compress: a fresh summary comes before the next major action."""
HALT = "halt"
"""From critical, or pressure missing after the first turn."""
_FIRST_TURN = "context usage is unknown, which counts as 0.0 on the first turn"
HALT_STATUS = "STATUS:HALT_CONTEXT_LIMIT"
_MARK_LAG = 60.0
"""Seconds after an event by which a host has written the mark of the same compaction."""


class GateVerdict(Value):
    """What the gate decided, and why."""

    action: str
    """continue, warn, compress or halt."""
    write_checkpoint: bool
    """Whether `gitguard gate` takes a checkpoint now; those of hooks come from other events."""
    write_summary: bool
    """Whether the summary has to be fresh; a hook folds the journal for it."""
    status: str
    """The status line to print, empty when the agent may go on."""
    reasons: tuple[str, ...]
    pressure: float | None

    @property
    def halts(self) -> bool:
        """Whether autonomous execution must stop."""
        return self.action == HALT


def decide(
    pressure: float | None,
    thresholds: Thresholds,
    *,
    first_turn: bool = False,
    action_changed_state: bool = False,
    phase_or_goal_changed: bool = False,
    summary_conflict: bool = False,
    overridden_to: float | None = None,
    assumption: str = "",
    unknown: str = "",
) -> GateVerdict:
    """Decide on the next major action.

    pressure is the used share of the window, None when the host offers none. overridden_to is the
    pressure up to which a human lifted the halt. assumption says that the pressure rests on an
    assumed window, empty where it does not: an assumption warns, and never halts by itself. unknown
    says why a host that offers the pressure tells none; that is our fault, and halts nobody.
    """
    if pressure is not None and not pressure >= 0:
        pressure = None  # not a number at all
    if pressure is None and (first_turn or unknown):
        band, reasons = CONTINUE, [unknown or _FIRST_TURN]
    else:
        band, reasons = _band(pressure, thresholds, overridden_to, assumption)
    if band == HALT:
        return GateVerdict(
            HALT, True, True, status=HALT_STATUS, reasons=tuple(reasons), pressure=pressure
        )
    flags = {
        "the action changed the state": action_changed_state,
        "phase or goal changed": phase_or_goal_changed,
        "the summary conflicted with the state": summary_conflict,
    }
    reasons += [text for text, is_set in flags.items() if is_set]
    summary = band in (WARN, COMPRESS)
    return GateVerdict(
        action=band,
        write_checkpoint=action_changed_state or phase_or_goal_changed,
        write_summary=summary or phase_or_goal_changed or summary_conflict,
        status="",
        reasons=tuple(reasons),
        pressure=pressure,
    )


def halt_reason(halt: Halt) -> str:
    """Say why a halt began, which the newest figure may not show any more."""
    return f"the halt began with: {halt.reason}"


def _band(
    pressure: float | None, thresholds: Thresholds, overridden_to: float | None, assumption: str
) -> tuple[str, list[str]]:
    """Return the action for a pressure, and why; an assumption or a human may lift a halt."""
    if pressure is None:
        band, reasons = HALT, ["no context usage given"]
    else:
        levels = (
            (HALT, "critical", thresholds.critical),
            (COMPRESS, "compress", thresholds.compress),
            (WARN, "warning", thresholds.warning),
        )
        band, compared = CONTINUE, "below every threshold"
        for action, name, least in levels:
            if pressure >= least:
                band, compared = action, f"{name} from {least:.2f}"
                break
        reasons = [f"pressure is {floored(pressure)}, {compared}"]
    if assumption:
        reasons.append(assumption)
    # A missing pressure halts under an assumed window too: then nothing at all is known.
    if band == HALT and assumption and pressure is not None:
        band = COMPRESS
        reasons.append("an assumed window halts nobody")
    is_lifted = overridden_to is not None and (pressure is None or pressure < overridden_to)
    if band == HALT and is_lifted:
        band = COMPRESS
        reasons.append("a human has overridden the halt")
    return band, reasons


def judge(
    host_session: HostSession,
    pressure: Pressure | None,
    config: Config,
    *,
    unknown: str = "",
    **flags: bool,
) -> GateVerdict:
    """Decide for a conversation, with its halt and override taken into account.

    unknown says why a host that offers the pressure tells none, empty where it tells it. flags are
    those of `decide` that rest on no pressure; only a caller knows them.
    """
    share, halt = pressure.share if pressure and pressure.is_known else None, host_session.halt
    if halt is not None:
        # It ends with a compaction, a new conversation or an override, not with a better figure.
        return GateVerdict(
            HALT, True, True, status=HALT_STATUS, reasons=(halt_reason(halt),), pressure=share
        )
    lifted = host_session.override
    return decide(
        share,
        config.thresholds,
        overridden_to=override_ends(lifted) if lifted else None,
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
    measured = measure_compaction(record, config, pushed, transcript=transcript, model=model)
    if measured is None:
        return compacted
    reading, pressure = measured
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
