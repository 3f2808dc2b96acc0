"""Runs a sequence from a seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from .memory import Memory, Session
from .readers import ask_all
from .steps import CONVERSATIONS, STEPS, Scene
from .world import Broken, World

SHORT = 20
"""How many steps a sequence has in every run of the tests, which try two."""
LENGTH = 50
"""How many steps a sequence has: later ones build on earlier ones, and a failure is still read."""


class Failed(AssertionError):
    """A sequence broke a promise; its text is the whole sequence."""

    def __init__(self, text: str, steps: int) -> None:
        """Say after how many steps."""
        super().__init__(text)
        self.steps = steps


def run_sequence(seed: int, length: int, folder: Path, tell: Callable[[str], object] = str) -> int:
    """Let steps happen in a new repository; return how many did.

    tell is called with each of them. Raises `Failed` with the seed and all steps up to the one that
    broke a promise.
    """
    world, random = World(folder), Random(seed)
    memory = Memory({"main": Session("main")}, "main")
    history: list[str] = []
    try:
        for conversation in CONVERSATIONS:
            # A conversation's hooks come before anything that its agent runs.
            world.hook("SessionStart.startup", conversation)
        while len(history) < length:
            (step,) = random.choices(list(STEPS), list(STEPS.values()))
            history.append(f"({step.__name__})")
            name = step(Scene(world, memory, random))
            if not name:
                history.pop()
                continue
            history[-1] = f"{step.__name__}: {name}"
            tell(history[-1])
            ask_all(world, memory)
    except Broken as error:
        lines = [f"seed {seed}, step {len(history)}: {error}", *history]
        raise Failed("\n".join(lines), len(history)) from error
    finally:
        world.remove()
    return len(history)
