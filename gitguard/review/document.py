"""The report as a document for programs; references/reference/report.schema.json describes it."""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.review.report import Report

SCHEMA = "gitguard/report"
VERSION = 1


def document_of(report: Report) -> dict[str, Any]:
    """Return the report's values by name, below the name and version of their schema."""
    return {"schema": SCHEMA, "schema_version": VERSION, **_plain(report)}


def _plain(part: Any) -> Any:
    if isinstance(part, Value):
        return {name: _plain(getattr(part, name)) for name in part.field_names}
    return [_plain(inner) for inner in part] if isinstance(part, tuple) else part
