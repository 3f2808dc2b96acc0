"""The working bundle: exactly what the next major action needs, and nothing of the rest.

The full state is never in it; the summary only on request; a missing field is shown as missing and
never guessed (references/design/contract.md, "The loop").
"""

from __future__ import annotations

import re

from gitguard.errors import InvalidInput
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Thresholds
    from gitguard.state.items import Origin
    from gitguard.state.task import TaskState

MISSING = "(missing)"
LOW, MEDIUM, HIGH = "low", "medium", "high"
WORTHS = (LOW, MEDIUM, HIGH)
_BETWEEN = re.compile(r"[\s:,;!?`'\"()\[\]{}<>|*]+")
_PATH = re.compile(r"(?!//)[\w@.~/+-]*\w[\w@.~/+-]*")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}")
_LONGEST_PATH = 1024


class ContextItem(Value):
    """Something beside the required fields that may help with the next action."""

    name: str
    text: str
    worth: str = LOW
    """low, medium or high: low goes first when pressure rises."""


class Bundle(Value):
    """The working context for one major action."""

    goal: str
    phase: str
    next_action: str
    last_successful_action: str
    constraints: tuple[str, ...]
    relevant_artifacts: tuple[str, ...]
    items: tuple[ContextItem, ...] = ()
    dropped: tuple[str, ...] = ()
    """Names of the items that pressure left no room for."""
    refused: tuple[str, ...] = ()
    """Why context files are not among the items, each as a sentence without its stop."""
    conflicts: tuple[str, ...] = ()
    """What several machines noted differently, and what settles it."""
    branch: str = ""
    """Why no checkpoint is taken, or what became of the session's branch."""


def build_bundle(
    state: TaskState,
    items: tuple[ContextItem, ...] = (),
    *,
    pressure: float = 0.0,
    thresholds: Thresholds,
) -> Bundle:
    """Build the bundle of a state, its items trimmed to the pressure."""
    remaining, dropped = trim(items, pressure, thresholds)
    last = state.last_action
    return Bundle(
        goal=_labelled(state.stated_goal, state.goal_from),
        phase=state.current_phase or MISSING,
        next_action=_labelled(state.next_action, state.next_from),
        last_successful_action=f"{last.summary} ({last.outcome})" if last else MISSING,
        constraints=tuple(_labelled(limit.text, limit.origin) for limit in state.constraints),
        relevant_artifacts=relevant_artifacts(state),
        items=remaining,
        dropped=dropped,
    )


def _labelled(text: str, origin: Origin | None) -> str:
    label = origin.machine_label if origin is not None else ""
    return f"{text}{label}" if text else MISSING


def relevant_artifacts(state: TaskState) -> tuple[str, ...]:
    """Return the paths the state lists, and those that its next action names."""
    listed = [artifact.path for artifact in state.artifacts]
    words = (word.rstrip(".") for word in _BETWEEN.split(state.next_action))
    return tuple(dict.fromkeys([*listed, *(word for word in words if _is_path(word))]))


def _is_path(word: str) -> bool:
    """Say whether a word has a slash in it, or an ending as files have."""
    if len(word) > _LONGEST_PATH or not _PATH.fullmatch(word):
        return False
    dot = word.rfind(".")
    return "/" in word or (dot > 0 and _ENDING.fullmatch(word, dot) is not None)


def trim(
    items: tuple[ContextItem, ...], pressure: float, thresholds: Thresholds
) -> tuple[tuple[ContextItem, ...], tuple[str, ...]]:
    """Drop low-worth items from warning on, medium ones from compress on; say which."""
    for item in items:
        if item.worth not in WORTHS:
            raise InvalidInput(
                f"the item `{item.name}` has the worth `{item.worth}`", f"Use {', '.join(WORTHS)}"
            )
    unwanted: tuple[str, ...] = ()
    if pressure >= thresholds.warning:
        unwanted = (LOW,)
    if pressure >= thresholds.compress:
        unwanted = (LOW, MEDIUM)
    remaining = tuple(item for item in items if item.worth not in unwanted)
    return remaining, tuple(item.name for item in items if item.worth in unwanted)
