"""The JSON Schema of a report, from the declarations of its values."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import Any

from gitguard.review.piece import CodeChange
from gitguard.review.report import (
    SCHEMA,
    VERSION,
    Override,
    Redaction,
    Report,
    ReportCheckpoint,
    ReportedFile,
    TrackedItem,
    Verdict,
)
from gitguard.store.git.commits import CommitFile

from .json_schema import DIALECT

_VALUES = (
    *(
        ReportedFile,
        CommitFile,
        CodeChange,
        TrackedItem,
        Override,
        Redaction,
        Report,
        ReportCheckpoint,
    ),
    Verdict,
)
_PLAIN: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "None": {"type": "null"},
}


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of what `gitguard report --format json` prints."""
    report = _of(Report)
    named = {"schema": {"const": SCHEMA}, "schema_version": {"const": VERSION}}
    report["properties"] = {**named, **report["properties"]}
    report["required"] = [*named, *report["required"]]
    return {"$schema": DIALECT, "title": "gitguard report", **report}


def _of(value: type[Any]) -> dict[str, Any]:
    declared = _declared(value)
    fields = {name: _field(annotation, doc) for name, (annotation, doc) in declared.items()}
    return {"type": "object", "properties": fields, "required": list(fields)}


def _field(annotation: ast.expr, doc: str) -> dict[str, Any]:
    return {"description": doc, **_shape(annotation)} if doc else _shape(annotation)


def _declared(value: type[Any]) -> dict[str, tuple[ast.expr, str]]:
    """Return each field's annotation, and the text below it in the source."""
    source = inspect.getsource(sys.modules[value.__module__])
    body = next(
        node.body
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == value.__name__
    )
    fields: dict[str, tuple[ast.expr, str]] = {}
    for node, below in zip(body, [*body[1:], ast.Pass()], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            fields[node.target.id] = (node.annotation, _text_of(below))
    return fields


def _text_of(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def _shape(annotation: ast.expr) -> dict[str, Any]:
    if isinstance(annotation, ast.BinOp):
        return {"anyOf": [_shape(annotation.left), _shape(annotation.right)]}
    if isinstance(annotation, ast.Subscript):
        inner = annotation.slice
        assert isinstance(inner, ast.Tuple)
        if isinstance(inner.elts[1], ast.Constant):  # tuple[X, ...]
            return {"type": "array", "items": _shape(inner.elts[0])}
        count = len(inner.elts)
        items = [_shape(element) for element in inner.elts]
        return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}
    name = ast.unparse(annotation)
    by_name = {value.__name__: value for value in _VALUES}
    return _of(by_name[name]) if name in by_name else _PLAIN[name]
