"""Turns in which the context becomes critical, so that gitguard halts the agent."""

from __future__ import annotations

from .scripted_model import ScriptedModel, Step, bash

CRITICAL = 184_000
"""Tokens of a 200,000 window at which the gate halts (92 %)."""


def script_until_halted(model: ScriptedModel) -> None:
    """Script calls at critical pressure, of which the host may run the first and no other.

    One is denied with its reason, the next one ends the turn.

    The host writes an answer to its transcript while the hooks of that answer's calls start: a
    hook reads the usage of the answer before, at times that of the very answer.
    """
    model.script(
        Step("one", (bash("echo one"),), input_tokens=20_000),
        Step("two", (bash("touch may-run"),), input_tokens=CRITICAL),
        Step("three", (bash("touch must-not-run"),), input_tokens=CRITICAL + 500),
        Step("four", (bash("touch must-not-run"),), input_tokens=CRITICAL + 1000),
        Step("never", (bash("touch must-not-run"),), input_tokens=CRITICAL + 1500),
    )
