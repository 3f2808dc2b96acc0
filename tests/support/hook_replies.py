"""What a reply of a hook does to the agent."""

from __future__ import annotations


def denies(answer: dict[str, object]) -> bool:
    """The tool call does not run."""
    output = answer.get("hookSpecificOutput")
    return isinstance(output, dict) and output.get("permissionDecision") == "deny"


def stops(answer: dict[str, object]) -> bool:
    """The tool call does not run, and the turn ends."""
    return denies(answer) and answer.get("continue") is False


HALTED = "STATUS:HALT_CONTEXT_LIMIT"
