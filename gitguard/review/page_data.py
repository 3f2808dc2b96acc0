"""What the script of a report's page compares: the items of the checkpoints that are shown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from gitguard.model.text import one_line, percent, shorten
from gitguard.review.markdown import SHORT
from gitguard.review.report import FIELDS
from gitguard.review.sections import source_of, status_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitguard.review.report import Report, ReportCheckpoint, TrackedItem


def page_data(report: Report, shown: Sequence[int], items: int, characters: int) -> dict[str, Any]:
    """Return the checkpoints at these places, and in which of them each item was.

    Of each list at most so many items are taken, the newest, and of each text so many characters.
    """
    entries = [
        (entry, spans)
        for field in FIELDS
        for entry in report.of(field)[-items:]
        if (spans := _among(shown, entry))
    ]
    at = {commit.id: place for place, commit in enumerate(report.commits)}
    paths: dict[str, int] = {}
    return {
        "fields": [field.replace("_", " ") for field in FIELDS],
        "stops": [_stop(report.stops[n], at, report.base, characters) for n in shown],
        "items": [
            [FIELDS.index(entry.field), _words(entry, characters), source_of(entry), spans]
            for entry, spans in entries
        ],
        "commits": [
            [
                commit.id[:SHORT],
                shorten(one_line(commit.subject), characters),
                [
                    [paths.setdefault(path.path, len(paths)), path.added, path.removed]
                    for path in commit.paths[:items]
                ],
            ]
            for commit in report.commits
        ],
        "paths": [shorten(one_line(path), characters) for path in paths],
    }


def _among(shown: Sequence[int], entry: TrackedItem) -> list[list[int]]:
    """Return which of the shown checkpoints had an item, from and to."""
    spans = ((bisect_left(shown, a), bisect_right(shown, b) - 1) for a, b in entry.spans)
    return [[first, last] for first, last in spans if first <= last]


def _words(entry: TrackedItem, characters: int) -> str:
    label = f"{entry.label}: " if entry.label else ""
    detail = f" – {entry.detail}" if entry.detail else ""
    return shorten(one_line(f"{label}{entry.text}{detail}"), characters)


def _stop(stop: ReportCheckpoint, at: dict[str, int], base: str, characters: int) -> list[Any]:
    """Return a checkpoint, with how many commits of the range were made by then."""
    commits = at[stop.code] + 1 if stop.code in at else (0 if stop.code == base else -1)
    pressure = "unknown" if stop.pressure is None else percent(stop.pressure)
    texts = (stop.goal, status_name(stop), stop.phase, stop.next_action)
    stated = [shorten(one_line(text), characters) for text in texts]
    return [stop.name, commits, [*stated, percent(stop.confidence), pressure]]
