"""The gate: before each major action, may the agent go on, and what has to be written first.

A pure decision with reasons (references/design/contract.md, "The gate"). A *major action* is a
model call that can change the plan, a tool call that writes or deletes, any edit, or a step
that takes meaningful context. A *fresh checkpoint* is a state written after the last action that
changed it.
"""

from __future__ import annotations

from gitguard.model.text import floored
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Thresholds
    from gitguard.store.session.host_session import Halt

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


class GateVerdict(Value):
    """What the gate decided, and why."""

    action: str
    """continue, warn, compress or halt."""
    write_checkpoint: bool
    write_summary: bool
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
        return GateVerdict(HALT, True, True, HALT_STATUS, tuple(reasons), pressure)
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
        band, reasons = HALT, ["no context usage is known, and this is not the first turn"]
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
