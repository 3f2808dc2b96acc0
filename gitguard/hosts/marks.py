"""By which marks a program is told: of environments, payloads and paths, without its adapter.

Variables are inherited by a program that was started in another one's shell. So where a transcript
lies goes before them.
"""

from __future__ import annotations

import os

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ALWAYS, MAYBE, SELDOM = "always", "maybe", "seldom"
"""How often a host's payloads name its transcript; one that may not have any says `null`."""


class HostMarks(Value):
    """The marks of one host; empty where it has none of a kind."""

    session: str = ""
    """The variable that names the conversation to its tool calls."""
    unnamed: str = ""
    """The conversation that counts in a shell of its agent which names none."""
    shells: tuple[str, ...] = ()
    """Variables of its agent's shell; each tells alone, so that dropping one hides none."""
    persons_shells: tuple[str, ...] = ()
    """Values of these in a shell that a person opened in the host."""
    in_tools: tuple[str, ...] = ()
    """Variables of tool calls."""
    not_in_tools: tuple[str, ...] = ()
    """Variables of hooks, beside which those of tool calls tell nothing."""
    hooks: str = ""
    """The variable by which a hook is known as its own."""
    client: str = ""
    """What its payloads call their `client_type`."""
    folder: str = ""
    """The folder of its user's own files, relative to the home folder."""
    home: str = ""
    """The variable that names that folder where it is another one."""
    names_transcript: str = ALWAYS

    def conversation(self, environment: Mapping[str, str]) -> str:
        """Return the conversation in whose shell a command runs, empty outside of one."""
        if not self.in_agents_shell(environment):
            return ""
        return environment.get(self.session, "") or self.unnamed

    def in_agents_shell(self, environment: Mapping[str, str]) -> bool:
        """Say whether the agent runs a command, by any mark that the host sets."""
        return self._has_any(self.shells, environment)

    def has_tool_marks(self, environment: Mapping[str, str]) -> bool:
        """Say whether this process has the marks of a tool call; no where the host sets none."""
        if self._has_any(self.not_in_tools, environment):
            return False
        return self._has_any(self.in_tools, environment)

    def _has_any(self, variables: tuple[str, ...], environment: Mapping[str, str]) -> bool:
        for variable in variables:
            value = environment.get(variable, "")
            if value and value not in self.persons_shells:
                return True
        return False

    def user_folder(self, environment: Mapping[str, str]) -> str:
        """Return the folder in which the host keeps what belongs to its user."""
        named = environment.get(self.home, "") if self.home else ""
        return named or os.path.join(environment.get("HOME", ""), self.folder)

    def owns(self, transcript: str, environment: Mapping[str, str]) -> bool:
        """Say whether a transcript lies in that folder."""
        folder = os.path.abspath(self.user_folder(environment))
        path = os.path.abspath(transcript)
        if path.startswith(folder + os.sep):
            return True
        return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)


NO_MARKS = HostMarks()


def speaker(
    named: str,
    speakers: Mapping[str, HostMarks],
    payload: Mapping[str, Any],
    environment: Mapping[str, str],
) -> str:
    """Return which of the speakers of one dialect sent a payload to the hook of the named one.

    A program may run hooks that stand in another one's settings.
    """
    path = payload.get("transcript_path")
    if isinstance(path, str) and path:
        if speakers[named].owns(path, environment):
            return named
        for name, marks in speakers.items():
            if marks.owns(path, environment) or f"/{marks.folder}/" in path:
                return name
        candidates = tuple(speakers)
    elif "transcript_path" in payload:
        candidates = tuple(n for n, marks in speakers.items() if marks.names_transcript == MAYBE)
    else:
        candidates = tuple(n for n, marks in speakers.items() if marks.names_transcript == SELDOM)
    client = payload.get("client_type")
    for name in candidates:
        if client and speakers[name].client == client:
            return name
    for name in candidates:
        if speakers[name].hooks and environment.get(speakers[name].hooks):
            return name
    return named if named in candidates or len(candidates) != 1 else candidates[0]
