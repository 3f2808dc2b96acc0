"""gitguard keeps a coding agent's working memory in git.

The library's front door is `Guard`; it is imported on first use, because hooks start often.
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["Guard", "__version__"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.guard import Guard


def __getattr__(name: str) -> object:
    if name == "Guard":
        from gitguard.guard import Guard

        return Guard
    raise AttributeError(f"module `gitguard` has no attribute `{name}`")


def __dir__() -> list[str]:
    return __all__
