"""What several machines noted differently, for whoever may settle it."""

from __future__ import annotations

from gitguard.model.text import seconds, shorten
from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.sessions.resume.reader import duration, safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.state.conflicts import OpenConflict, ShownVariant

_VARIANT = 120
"""Characters of each variant."""


def conflict_section(conflicts: Iterable[OpenConflict], now: str) -> BlockSection:
    """Return each conflict with its variants, and behind it the command that settles it.

    now is empty where ages are not told.
    """
    return BlockSection(
        "Noted differently on several machines", tuple(_item(c, now) for c in conflicts), 8
    )


def _item(conflict: OpenConflict, now: str) -> BlockItem:
    variants = "; ".join(_variant(variant, now) for variant in conflict.variants)
    text = safe(f"{conflict.subject}: {variants}")
    return BlockItem(text, remark=f" — `{conflict.command}` keeps one")


def _variant(variant: ShownVariant, now: str) -> str:
    age = f", {duration(seconds(now) - seconds(variant.at))} old" if now and variant.at else ""
    in_use = ", in use" if variant.number == 1 else ""
    return f"{variant.number}. {shorten(variant.text, _VARIANT)} ({variant.author}{age}{in_use})"
