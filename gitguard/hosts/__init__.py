"""The table of hosts, and the one way to what each of them can do.

A host is a folder of this package, and each of its capabilities a module there. Adapters only
translate: the engine names no host, and reads here which ones there are. A module is imported when
somebody asks for it, because a hook pays for every import.
"""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.hosts.marks import MAYBE, NO_MARKS, SELDOM, HostMarks, speaker
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitguard.hosts.base import Host, Installation
    from gitguard.hosts.health import HealthOfHost
    from gitguard.hosts.plugin import HostPlugin

HOOKS = "hooks"
"""Answers the host's events (`base.Host`)."""
INSTALLING = "installing"
"""How gitguard is put into the host's settings (`base.Installation`)."""
HEALTH = "health"
"""Whether the host runs what was installed (`health.HealthOfHost`)."""
ADVICE = "advice"
"""Which settings the host has, and how they are made (`adviser.Adviser`)."""
PLANS = "plan_calls"
"""What tool calls of its own do to its plan (`TOOLS`, `answered`, `plan_change`)."""
PLUGIN = "plugin"
"""How the host installs the plugin that several hosts share (`plugin.HostPlugin`)."""
CONTEXT_FILES = "context_files"
"""Which files of a workspace the host loads into its context (`LOADED`)."""


class HostRow(Value):
    """One host: what it can do, and by which marks it is told."""

    capabilities: tuple[str, ...]
    marks: HostMarks = NO_MARKS
    program: str = ""
    """The host's own command, empty where it has none."""
    dialect: str = ""
    """The name of the hook dialect that it speaks with others, empty for one of its own."""


_COMMON = "common"
HOSTS: dict[str, HostRow] = {
    "claude-code": HostRow(
        (HOOKS, INSTALLING, HEALTH, PLUGIN, ADVICE, PLANS, CONTEXT_FILES),
        # Hooks and the status line have the project's folder, and tool calls the host's program
        # (seen in 2.1.330); both have the other marks.
        HostMarks(
            session="CLAUDE_CODE_SESSION_ID",
            shells=("CLAUDE_CODE_SESSION_ID", "CLAUDECODE"),
            in_tools=("CLAUDE_CODE_EXECPATH",),
            not_in_tools=("CLAUDE_PROJECT_DIR",),
            hooks="CLAUDECODE",
            folder=".claude",
            home="CLAUDE_CONFIG_DIR",
        ),
        "claude",
        _COMMON,
    ),
    "openclaw": HostRow(
        (HOOKS, INSTALLING, HEALTH, ADVICE, CONTEXT_FILES),
        # Seen in 2026.9.6 and 2026.3.13. The plugin takes the mark away that a Gateway inherits
        # which was started in a session's shell.
        HostMarks(
            session="GITGUARD_HOST_SESSION",
            unnamed="openclaw",
            shells=("OPENCLAW_SHELL",),
            persons_shells=("tui-local",),
            in_tools=("OPENCLAW_SHELL",),
        ),
        "openclaw",
    ),
    "copilot": HostRow(
        (HOOKS, INSTALLING, HEALTH, PLUGIN, PLANS),
        HostMarks(
            session="COPILOT_AGENT_SESSION_ID",
            shells=("COPILOT_AGENT_SESSION_ID", "COPILOT_CLI"),
            in_tools=("COPILOT_AGENT_SESSION_ID",),
            hooks="COPILOT_CLI",
            folder=".copilot",
            names_transcript=SELDOM,
        ),
        "copilot",
        _COMMON,
    ),
    "qwen": HostRow(
        (HOOKS, INSTALLING, HEALTH, PLUGIN),
        HostMarks(
            session="QWEN_CODE_SESSION_ID",
            shells=("QWEN_CODE_SESSION_ID", "QWEN_CODE"),
            in_tools=("QWEN_CODE",),
            not_in_tools=("QWEN_PROJECT_DIR",),
            hooks="QWEN_CODE_CLI",
            folder=".qwen",
        ),
        "qwen",
        _COMMON,
    ),
    "droid": HostRow(
        (HOOKS, INSTALLING, HEALTH, PLUGIN, PLANS),
        # Its tool calls have no mark of their own, but what hooks have too (seen in 0.225.2).
        HostMarks(
            shells=("FACTORY_DISABLE_SETTINGS_PERSISTENCE",),
            in_tools=("FACTORY_DISABLE_SETTINGS_PERSISTENCE",),
            not_in_tools=("FACTORY_PROJECT_DIR",),
            hooks="FACTORY_PROJECT_DIR",
            folder=".factory",
        ),
        "droid",
        _COMMON,
    ),
    "kimi": HostRow(
        (HOOKS, INSTALLING, HEALTH),
        HostMarks(
            client="kimi_code_cli",
            folder=".kimi-code",
            home="KIMI_CODE_HOME",
            names_transcript=SELDOM,
        ),
        "kimi",
        _COMMON,
    ),
    "codex": HostRow(
        (HOOKS, INSTALLING, HEALTH, PLUGIN, ADVICE, CONTEXT_FILES),
        HostMarks(
            session="CODEX_SESSION_ID",
            shells=("CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID"),
            in_tools=("CODEX_TOOL_CALL_ID",),
            folder=".codex",
            home="CODEX_HOME",
            names_transcript=MAYBE,
        ),
        "codex",
        _COMMON,
    ),
    "gemini": HostRow((ADVICE, CONTEXT_FILES), program="gemini"),
    # The plugins take the marks away that a host inherits which was started in a tool's shell, and
    # those that the host gives itself.
    "opencode": HostRow(
        (HOOKS, INSTALLING, HEALTH, ADVICE, CONTEXT_FILES),
        # Seen in 1.18.34; the session's variable is set by the plugin.
        HostMarks(
            session="GITGUARD_OPENCODE_SESSION",
            shells=("GITGUARD_OPENCODE_SESSION", "OPENCODE"),
            in_tools=("GITGUARD_OPENCODE_SESSION", "OPENCODE"),
        ),
        "opencode",
    ),
    "pi": HostRow(
        (HOOKS, INSTALLING, HEALTH, ADVICE, CONTEXT_FILES),
        # Seen in 1.5.0.
        HostMarks(
            session="PI_SESSION_ID",
            shells=("PI_SESSION_ID", "PI_CODING_AGENT"),
            in_tools=("PI_SESSION_ID", "PI_CODING_AGENT"),
            folder=".pi/agent",
            home="PI_CODING_AGENT_DIR",
        ),
        "pi",
    ),
}
"""Every host."""
_UNKNOWN = {
    HOOKS: "is not a host gitguard knows",
    INSTALLING: "is not a host gitguard can be installed in",
    HEALTH: "is not a host whose hooks gitguard can look over",
    ADVICE: "is not a host gitguard can advise on",
    PLUGIN: "is not a host that installs gitguard's plugin",
    PLANS: "is not a host with tools of its own for a plan",
    CONTEXT_FILES: "is not a host whose context files are known",
}


def names(capability: str) -> tuple[str, ...]:
    """Return the hosts that have a capability."""
    return tuple(name for name, row in HOSTS.items() if capability in row.capabilities)


def load(name: str, capability: str) -> Any:
    """Import the module of a host's capability; only that one is imported.

    Raises `InvalidInput` where the host does not have it.
    """
    if name not in HOSTS or capability not in HOSTS[name].capabilities:
        raise InvalidInput(
            f"`{name[:80]}` {_UNKNOWN[capability]}", "Hosts: " + ", ".join(names(capability))
        )
    folder = name.replace("-", "_")
    return __import__(f"gitguard.hosts.{folder}.{capability}", fromlist=[capability])


def find_host(name: str) -> Host:
    """Return the adapter that answers a host's events."""
    host: Host = load(name, HOOKS).HOST
    return host


def find_speaker(name: str, payload: Mapping[str, Any], environment: Mapping[str, str]) -> Host:
    """Return the adapter of the host that sent a payload to the hook of the named one."""
    dialect = HOSTS[name].dialect if name in HOSTS else ""
    if dialect:
        speakers = {n: row.marks for n, row in HOSTS.items() if row.dialect == dialect}
        name = speaker(name, speakers, payload, environment)
    return find_host(name)


def find_installing(name: str) -> Installation:
    """Return how gitguard is put into a host's settings."""
    module = load(name, INSTALLING)
    installing: Installation = getattr(module, "INSTALLATION", module)
    return installing


def find_health(name: str) -> HealthOfHost:
    """Return how to tell whether a host runs what was installed."""
    module = load(name, HEALTH)
    health: HealthOfHost = getattr(module, "HEALTH", module)
    return health


def find_plugin(name: str) -> HostPlugin:
    """Return how a host installs the plugin that several hosts share."""
    plugin: HostPlugin = load(name, PLUGIN).PLUGIN
    return plugin


def surrounding_host(session: str, environment: Mapping[str, str]) -> str:
    """Return the host that started this command in a conversation, empty outside of one."""
    for name, row in HOSTS.items():
        if row.marks.conversation(environment) == session:
            return name
    return ""


def surrounding_session(environment: Mapping[str, str]) -> str:
    """Return the conversation of a host that started this command, empty outside of one."""
    for row in HOSTS.values():
        if conversation := row.marks.conversation(environment):
            return conversation
    return ""


def in_agents_shell(environment: Mapping[str, str]) -> bool:
    """Say whether a host's agent runs this command."""
    return any(row.marks.in_agents_shell(environment) for row in HOSTS.values())


def has_tool_marks(environment: Mapping[str, str]) -> bool:
    """Say whether this process has the marks of a tool call of any host."""
    return any(row.marks.has_tool_marks(environment) for row in HOSTS.values())
