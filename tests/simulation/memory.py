"""The model: what was acknowledged, and so must be readable until somebody takes it back."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Task:
    """What the state of a session must hold at least."""

    goal: str = ""
    learnings: list[str] = field(default_factory=list)
    decisions: list[tuple[str, str]] = field(default_factory=list)
    """Each decision with its reason."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Each attempt with its error."""

    def lacks(self, state: dict[str, Any]) -> str:
        """Return what a state does not hold although it was acknowledged, empty if nothing."""
        if self.goal and state["goal"] != self.goal:
            return f"the goal `{self.goal}`; it is `{state['goal']}`"
        decisions = [(item["what"], item["why"]) for item in state.get("decisions", [])]
        failures = [(item["what"], item["error"]) for item in state.get("failed_attempts", [])]
        learnings = [item["text"] for item in state.get("learnings", [])]
        for name, items, kept in (
            ("learning", self.learnings, learnings),
            ("decision", self.decisions, decisions),
            ("failed attempt", self.failures, failures),
        ):
            for item in items:
                if item not in kept:
                    return f"the {name} {item!r}"
        return ""


@dataclass
class Session:
    """One line of work."""

    key: str
    task: Task = field(default_factory=Task)
    instead: Task | None = None
    """What holds if a command that was killed came to its end; None where none was."""
    checkpoints: dict[str, Task] = field(default_factory=dict)
    """What was acknowledged in each checkpoint, by its commit."""
    is_closed: bool = False

    def acknowledge(self, commit: str) -> None:
        """A command said that this commit is a checkpoint of what there is now."""
        self.checkpoints[commit] = deepcopy(self.task)

    def settle(self, state: dict[str, Any]) -> str:
        """Find out what became of a killed command; return what is lost, empty if nothing."""
        lost = self.task.lacks(state)
        if lost and self.instead is not None and not self.instead.lacks(state):
            self.task, lost = self.instead, ""
        self.instead = None
        return lost


@dataclass
class Memory:
    """Everything that must be readable."""

    sessions: dict[str, Session] = field(default_factory=dict)
    current: str = ""
    halted: set[str] = field(default_factory=set)
    """The conversations that may use no tool."""
    forged: str = ""
    """What somebody wrote into the branch past gitguard, and nobody may be handed as ours."""
    edited: str = ""
    """What somebody wrote into `state.json` past gitguard."""
    rounds: int = 0
    """How often all reading commands were asked."""

    @property
    def session(self) -> Session:
        return self.sessions[self.current]

    @property
    def is_sound(self) -> bool:
        """Whether nobody changed what only gitguard writes."""
        return not (self.forged or self.edited)
