"""gitguard keeps a coding agent's working memory in git.

The library's front door is `Guard`; beside it stand the values that its methods take. Each is
imported on first use, because hooks start often and need few of them.
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = [
    "Abilities",
    "Anywhere",
    "BriefOptions",
    "ContextItem",
    "GitguardError",
    "Guard",
    "HookEvent",
    "InstallOptions",
    "Reading",
    "Session",
    "ToolCall",
    "Transcript",
    "UserDirs",
    "__version__",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.delegation.brief import BriefOptions
    from gitguard.errors import GitguardError
    from gitguard.guard import Anywhere, Guard
    from gitguard.hooks.bundle import ContextItem
    from gitguard.hosts.base import InstallOptions
    from gitguard.model.events import Abilities, HookEvent, Reading, ToolCall, Transcript
    from gitguard.store.session.workspace import Session, UserDirs

_MODULES = {
    "Abilities": "gitguard.model.events",
    "Anywhere": "gitguard.guard",
    "BriefOptions": "gitguard.delegation.brief",
    "ContextItem": "gitguard.hooks.bundle",
    "GitguardError": "gitguard.errors",
    "Guard": "gitguard.guard",
    "HookEvent": "gitguard.model.events",
    "InstallOptions": "gitguard.hosts.base",
    "Reading": "gitguard.model.events",
    "Session": "gitguard.store.session.workspace",
    "ToolCall": "gitguard.model.events",
    "Transcript": "gitguard.model.events",
    "UserDirs": "gitguard.store.session.workspace",
}
"""Where each public name is defined."""


def __getattr__(name: str) -> object:
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module `gitguard` has no attribute `{name}`")


def __dir__() -> list[str]:
    return __all__
