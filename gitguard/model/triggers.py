"""What a checkpoint is taken for: the table of events, and each trigger by its name."""

from __future__ import annotations

from gitguard.model.value import Value

START = "start"
FAILURE = "failure"
BEFORE_DESTRUCTIVE = "before-destructive"
PHASE_CHANGE = "phase-change"
AUTO_75 = "auto-75pct"
AUTO_80 = "auto-80pct"
AUTO_85 = "auto-85pct"
COMPACTION = "compaction"
TURN_START = "turn-start"
TURN_END = "turn-end"
SESSION_END = "session-end"
HALT = "halt"
COMPLETE = "complete"
MANUAL = "manual"
NO_MESSAGE = "Asked for."
"""Stands in a commit where nobody said why a checkpoint is taken."""
RECOVERY = "recovery"
PRE_RESTORE = "pre-restore"


class EventRule(Value):
    """One row of the table in references/reference/events.md."""

    event: str
    state: str
    """When the state is on disk."""
    trigger: str = ""
    """The checkpoint's trigger; empty when the event takes none."""
    only_if_changed: bool = False


EVENT_RULES = (
    EventRule("`note`, `update`", "at once"),
    EventRule("first `ensure`, new task", "yes", START),
    EventRule("tool call that changed files, plan or todo; failed tool", "journal at once"),
    EventRule("failure that changes the plan", "at once", FAILURE),
    EventRule("before a destructive tool call", "yes", BEFORE_DESTRUCTIVE, only_if_changed=True),
    EventRule("phase or goal changed", "yes", PHASE_CHANGE),
    EventRule("pressure reaches `gauge.warn_compact`, 75 %", "yes", AUTO_75),
    EventRule(
        "pressure reaches `gauge.checkpoint_at`, 80 %, or moves by 5 % of the window above it",
        "yes",
        AUTO_80,
    ),
    EventRule("pressure reaches `gauge.warn_critical`, 85 %, without a halt", "yes", AUTO_85),
    EventRule("before a compaction", "yes", COMPACTION),
    EventRule("a turn begins, and files are not as in the last snapshot", "yes", TURN_START),
    EventRule("end of turn", "yes", TURN_END, only_if_changed=True),
    EventRule("end of host session", "yes", SESSION_END, only_if_changed=True),
    EventRule("halt", "yes", HALT),
    EventRule("completion", "yes", COMPLETE),
    EventRule("`gitguard checkpoint`", "yes", MANUAL),
    EventRule("state newer than the last checkpoint", "yes", RECOVERY),
    EventRule("before `restore`", "yes", PRE_RESTORE),
)
"""The whole table; every checkpoint that is taken names one of these triggers."""
ONLY_IF_CHANGED = frozenset(rule.trigger for rule in EVENT_RULES if rule.only_if_changed)
WITHOUT_HASTE = frozenset((TURN_END, SESSION_END, MANUAL))
"""Triggers after which no agent waits to go on."""
TRIGGERS = tuple(rule.trigger for rule in EVENT_RULES if rule.trigger)
