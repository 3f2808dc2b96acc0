"""JSON Schemas, generated from the same tables that validation reads."""

from __future__ import annotations

from gitguard.model.config.config import Config
from gitguard.state.snapshot import Snapshot
from gitguard.state.task import SCHEMA_VERSION, TaskState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.model.fields import Kind
    from gitguard.model.record import Record

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TIME = (
    r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
    r"T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z$"
)
_SHAPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "time": {"type": "string", "pattern": _TIME},
    "share": {"type": "number", "minimum": 0, "maximum": 1},
    "count": {"type": "integer", "minimum": 0},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
    "texts": {"type": "array", "items": {"type": "string"}},
}


def state_schema() -> dict[str, Any]:
    """Return the JSON Schema of `state.json`; fields that it does not name are allowed."""
    schema = _of(TaskState)
    schema["properties"]["schema_version"]["const"] = SCHEMA_VERSION
    return {"$schema": DIALECT, "title": "gitguard task state", **schema}


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema of `config.yaml`; settings that it does not name are refused."""
    return {"$schema": DIALECT, "title": "gitguard configuration", **_of(Config, closed=True)}


def snapshot_schema() -> dict[str, Any]:
    """Return the JSON Schema of `snapshot.yaml`, as YAML reads it."""
    return {"$schema": DIALECT, "title": "gitguard checkpoint snapshot", **_of(Snapshot)}


def _of(record: type[Record], *, closed: bool = False) -> dict[str, Any]:
    fields = {name: _field(kind, closed=closed) for name, kind in record.kinds.items()}
    required = [name for name in record.kinds if not hasattr(record, name)]
    schema: dict[str, Any] = {"type": "object", "properties": fields}
    if required:
        schema["required"] = required
    if closed:
        schema["additionalProperties"] = False
    return schema


def _field(kind: Kind, *, closed: bool) -> dict[str, Any]:
    described = {"description": _description(kind)}
    if kind.always and kind.record is None:
        return {**described, "anyOf": [_SHAPES[kind.shape], {"type": "null"}]}
    if kind.choices:
        return {**described, "enum": list(kind.choices)}
    if kind.record is None:
        return {**described, **_SHAPES[kind.shape]}
    record = _of(kind.record, closed=closed)
    if kind.is_list:
        return {**described, "type": "array", "items": record}
    return {**described, "anyOf": [record, {"type": "null"}]}


def _description(kind: Kind) -> str:
    if not kind.is_list or kind.is_fixed:
        return kind.doc
    return f"{kind.doc} `update` {'appends to' if kind.appends else 'replaces'} it."
