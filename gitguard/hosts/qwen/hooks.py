"""Qwen Code: what differs in its hooks (recorded with 0.24.4).

The request that carries the results of tools back is told as a prompt without words, and refusing
that one ends the turn.
"""

from __future__ import annotations

from gitguard.hosts.dialect import DialectHost, ShellResult, code_behind, told_reading
from gitguard.model import events
from gitguard.model.events import Abilities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


NAME = "qwen"
_exit_code = code_behind("\nExit Code: ")


def _version(environment: Mapping[str, str]) -> str:
    return environment.get("QWEN_CODE_STARTUP_VERSION", "")[:40]


def _shell_result(text: str) -> ShellResult:
    """Read the lines that the host writes around what a command said, each with its name."""
    result = _exit_code(text)
    _, _, output = result.output.partition("\nOutput: ")
    output = output.rpartition("\nError: ")[0] if "\nError: " in output else output
    return result.replace(output=output) if output else result


HOST = DialectHost(
    NAME,
    Abilities(
        forgets=(events.SESSION_START,),
        compact_command="/compress",
        new_conversation="/clear",
    ),
    ids=("tool_call_id", "tool_use_id"),
    shell="run_shell_command",
    writing=frozenset(("write_file", "edit")),
    reading=frozenset(("read_file",)),
    probes=frozenset(
        ("read_file", "grep_search", "glob", "list_directory", "web_fetch", "web_search")
    ),
    planning=frozenset(("todo_write",)),
    project="QWEN_PROJECT_DIR",
    version=_version,
    shell_result=_shell_result,
    readings=told_reading,
    has_steps=True,
)
