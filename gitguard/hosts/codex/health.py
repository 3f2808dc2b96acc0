"""Whether Codex runs the hooks that were installed, and whether its user trusts them.

It runs no hook that was not approved, nor one that changed since, and says nothing of it. Its
program tells: `hooks/list` of `codex app-server` (0.169.0 and 0.171.0), in a third of a second.
"""

from __future__ import annotations

import json
import re

from gitguard import __version__
from gitguard.hosts import HOSTS
from gitguard.hosts.codex.installing import INSTALLATION
from gitguard.hosts.health import MODIFIED, OFF, TRUSTED, UNKNOWN, UNTRUSTED
from gitguard.hosts.plugin import NAME
from gitguard.hosts.user_hook_health import Switch, UserHookHealth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.hosts.health import Exchange, HookHealth, InstalledSite, Read

PROGRAM = HOSTS[INSTALLATION.dialect.name].program
_BY_FILES = UserHookHealth(
    INSTALLATION,
    ("0.171.0",),
    (Switch("features.hooks", ("config.toml",), (".codex/config.toml",), value=False),),
)
TRIED = _BY_FILES.TRIED
_APPROVE = "start `codex` and choose to trust the hooks, or type `/hooks` there"
_STATES = {"trusted": TRUSTED, "managed": TRUSTED, "untrusted": UNTRUSTED, "modified": MODIFIED}
_VERSION = re.compile(r"/(\d+\.\d+[\w.-]*)")


def hook_health(site: InstalledSite, read: Read) -> HookHealth:
    """Compare an installation with the host's settings as they are now; nobody is asked."""
    trust = TRUSTED if site.is_trusted else UNKNOWN
    return _BY_FILES.hook_health(site, read).replace(trust=trust)


def ask_program(health: HookHealth, site: InstalledSite, exchange: Exchange) -> HookHealth:
    """Return the health with what the program says: hooks are trusted, changed, or off."""
    requests = (
        ("initialize", {"clientInfo": {"name": "gitguard", "version": __version__}}),
        ("hooks/list", {"cwds": [site.worktree]}),
    )
    lines = tuple(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        for number, (method, parameters) in enumerate(requests)
    )
    first, last = 0, len(requests) - 1
    answers = exchange(("app-server",), lines, lambda line: _message(line).get("id") == last)
    results = {message.get("id"): message.get("result") for message in map(_message, answers)}
    version = _VERSION.search(str(results.get(first)))
    health = health.replace(version=version[1] if version else "")
    listed = _listed(results.get(last))
    if isinstance(listed, str):
        note = f"whether Codex trusts them is unknown: {listed}"
        return health.replace(notes=(*health.notes, note))
    trust, problem = _trust(listed)
    return health.replace(trust=trust, problems=(*health.problems, *filter(None, (problem,))))


def _message(line: str) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _listed(result: Any) -> list[str] | str:
    """Return the state of each hook of ours that the program listed, or why it is unknown."""
    try:
        hooks = [hook for folder in result["data"] for hook in folder["hooks"]]
        errors = [error["message"] for folder in result["data"] for error in folder["errors"]]
        ours = [hook for hook in hooks if INSTALLATION.is_ours(hook) or _is_of_plugin(hook)]
        states = [_STATES[hook["trustStatus"]] if hook["enabled"] else OFF for hook in ours]
    except (KeyError, TypeError):
        return "its program did not say"
    return str(errors[0]) if errors else states


def _is_of_plugin(hook: dict[str, Any]) -> bool:
    return str(hook.get("pluginId")).partition("@")[0] == NAME


def _trust(states: list[str]) -> tuple[str, str]:
    """Return the trust that hooks have together, and what keeps them from running."""
    if not states:
        return OFF, "Codex lists none of them; `codex features list` says whether `hooks` is on"
    worst = next(state for state in (UNTRUSTED, MODIFIED, OFF, TRUSTED) if state in states)
    share = f"{states.count(worst)} of {len(states)}"
    problems = {
        UNTRUSTED: f"you have not approved {share} in Codex, which skips them; {_APPROVE}",
        MODIFIED: f"{share} changed since you approved them, and Codex skips them; {_APPROVE}",
        OFF: f"{share} are switched off in Codex; type `/hooks` there to switch them on",
    }
    return worst, problems.get(worst, "")
