"""Times as a reviewer types them: `2h`, `3 days ago`, `2026-11-01`, or ISO 8601."""

from __future__ import annotations

import re
import time

from gitguard.errors import InvalidInput
from gitguard.model.text import is_timestamp, seconds

_UNITS = {
    "s": 1,
    "min": 60,
    "h": 3_600,
    "d": 86_400,
    "w": 604_800,
    "sec": 1,
    "second": 1,
    "m": 60,
    "minute": 60,
    "hour": 3_600,
    "day": 86_400,
    "week": 604_800,
}
_AGE = re.compile(r"(\d{1,6})[ .]?([a-z]+?)s?(?:[ .]ago)?")
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d)?(?:\.\d+)?)? ?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
FORMS = "an age such as 30min, 2h, 3d or 1w, a date such as 2026-11-01, or an ISO time"


def parse_since(text: str, now: float) -> float:
    """Return the Unix seconds that a text means; raise `InvalidInput` for an unknown form.

    A time without a zone is the reader's own.
    """
    stripped = text.strip()
    age = _AGE.fullmatch(stripped.lower())
    if age and age[2] in _UNITS:
        return now - int(age[1]) * _UNITS[age[2]]
    moment = _MOMENT.fullmatch(stripped)
    if moment:
        stamp = f"{moment[1]}T{moment[2] or '00:00'}{moment[3] or ':00'}Z"
        if is_timestamp(stamp):
            return seconds(stamp) - _offset(moment[4]) if moment[4] else _local_seconds(stamp)
    raise InvalidInput(f"`{text:.80}` is not a time that gitguard knows", f"Give {FORMS}")


def _local_seconds(stamp: str) -> float:
    """Return the Unix seconds of what the reader's clock shows."""
    try:
        return time.mktime(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ"))
    except (ValueError, OverflowError):
        return seconds(stamp)


def _offset(zone: str) -> int:
    if zone == "Z":
        return 0
    sign = -1 if zone[0] == "-" else 1
    return sign * (int(zone[1:3]) * 3_600 + int(zone[-2:]) * 60)
