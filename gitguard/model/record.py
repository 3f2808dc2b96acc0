"""Records that are read from and written to documents, by the declarations of their fields."""

from __future__ import annotations

from gitguard.errors import InvalidConfig, InvalidInput
from gitguard.model import fields
from gitguard.model.fields import Kind, Later
from gitguard.model.text import is_timestamp
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar, Self, dataclass_transform

    from gitguard.model.redaction.redactor import Redactor, RuleMatch
else:

    def dataclass_transform(**_options):  # noqa: D103
        return lambda cls: cls


_DEEPEST = 32
"""How deep the values of unknown fields may be nested; ours never are."""
_LARGEST = 1e300
"""Beyond it whole numbers cannot become floats, and floats are infinite."""


@dataclass_transform(
    frozen_default=True,
    field_specifiers=(
        fields.text,
        fields.time,
        fields.share,
        fields.count,
        fields.number,
        fields.flag,
        fields.counts,
        fields.texts,
        fields.record,
        fields.records,
        fields.unwritten,
    ),
)
class Record(Value):
    """A value with a document form, by the order of its declarations."""

    kinds: ClassVar[Mapping[str, Kind]] = {}
    _free_texts: ClassVar[frozenset[str]] = frozenset()

    if not TYPE_CHECKING:

        def __init_subclass__(cls) -> None:
            declared = {n: kind for n, kind in vars(cls).items() if isinstance(kind, Kind)}
            for name, kind in declared.items():
                if kind.default is ...:
                    delattr(cls, name)
                else:
                    setattr(cls, name, kind.default)
            super().__init_subclass__()
            # What a record has in common with others stands behind what is its own.
            cls.kinds = {**declared, **cls.kinds}
            own = [name for name in cls.field_names if name not in cls.kinds and name != "extra"]
            cls.field_names = (*cls.kinds, *own, "extra")
            cls._accepted = {*cls.field_names}
            cls._free_texts = frozenset(n for n, kind in cls.kinds.items() if kind.is_free_text)

    @property
    def extra(self) -> Mapping[str, Any]:
        """The document's fields that the record does not know, which are kept."""
        extra: Mapping[str, Any] = vars(self).get("extra", {})
        return extra

    @classmethod
    def from_document(cls, document: Any, where: str = "") -> Self:
        """Read a mapping, or raise `InvalidInput` naming the field and the value."""
        if not isinstance(document, dict):
            raise _wrong(where or "the document", "an object", document)
        prefix = f"{where}." if where else ""
        values: dict[str, Any] = {}
        kinds, unknown = cls.kinds, {}
        free_texts = cls._free_texts
        for name, value in document.items():
            kind = kinds.get(name)
            if kind is None:
                unknown[name] = value
            elif type(value) is str and name in free_texts and value.isascii():
                values[name] = value  # most fields are, and a checkpoint reads thousands
            elif value is not None or not kind.may_be_null:
                values[name] = read_field(kind, value, prefix + name)
        if not cls._required <= values.keys():
            missing = next(n for n in kinds if n in cls._required and n not in values)
            raise InvalidInput(f"`{prefix}{missing}` is missing")
        if unknown:
            _check_json(unknown, where or "the document", _DEEPEST)
        values["extra"] = unknown
        return cls._of(values)

    def redacted(self, redactor: Redactor) -> tuple[Self, tuple[RuleMatch, ...]]:
        """Return the record without the secrets in it, and what was found."""
        if any(self is clean_record for clean_record in redactor.whole):
            return self, ()
        document, matches = redactor.document(self.to_document())
        clean = self.from_document(document) if matches else self
        redactor.whole = (*redactor.whole[-7:], clean)
        return clean, matches

    def to_document(self) -> dict[str, Any]:
        """Return the mapping that `from_document` reads back to an equal record."""
        document: dict[str, Any] = {**vars(self).get("extra", {})}
        for name, kind in self.kinds.items():
            if isinstance(kind.of, Later) and name not in vars(self):
                continue
            value = getattr(self, name)
            if kind.sparse and value == kind.default:
                continue
            if kind.shape == "texts":
                document[name] = list(value)  # a checkpoint writes thousands of them
            elif kind.always or (value is not None and value is not False):
                document[name] = _plain(value)
        return document


class ConfigSection(Record):
    """A part of the configuration, which may hold what cannot be in force."""

    def check(self, what: str) -> None:
        """Raise `InvalidConfig` where a value is beyond its bounds; what is the file."""

    def refuse_beyond(self, bounds: Mapping[str, tuple[int, int]], what: str, name: str) -> None:
        """Raise `InvalidConfig` where a number is not between its bounds, which both count.

        what is the file, and name the section's own in it.
        """
        for field, (least, most) in bounds.items():
            value = getattr(self, field)
            if not least <= value <= most:
                raise InvalidConfig(
                    f"{what}: `{name}.{field}` is {value:,}; it must be {least:,} to {most:,}"
                )


def _check_json(value: Any, where: str, depth: int) -> None:
    """Refuse a value of an unknown field that could not be written as JSON again."""
    if depth == 0:
        raise InvalidInput(f"`{where:.200}` is nested too deeply")
    if isinstance(value, dict):
        for name, item in value.items():
            _check_json(item, f"{where}.{_text(name, where)}", depth - 1)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _check_json(item, f"{where}[{i}]", depth - 1)
    elif isinstance(value, str):
        _text(value, where)
    elif isinstance(value, float) and not abs(value) <= _LARGEST:
        raise _wrong(where, "a finite number", value)
    elif not isinstance(value, int | float | None):
        raise _wrong(where, "a JSON value", value)


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_document()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def read_field(kind: Kind, value: Any, where: str) -> Any:
    """Read one field's value by its kind."""
    if kind.shape == "texts":
        if type(value) is list and all(type(item) is str and item.isascii() for item in value):
            return tuple(value)  # most are, and naming each for an error costs more than the look
        return tuple(_text(item, f"{where}[{i}]") for i, item in enumerate(_list(value, where)))
    if kind.shape in ("record", "records"):
        if value is None and kind.shape == "record":
            return None
        of = kind.of.record() if isinstance(kind.of, Later) else kind.of
        assert of is not None
        if kind.shape == "record":
            return of.from_document(value, where)
        items = enumerate(_list(value, where))
        return tuple(of.from_document(item, f"{where}[{i}]") for i, item in items)
    if kind.choices:
        if value not in kind.choices:
            raise _wrong(where, "one of " + ", ".join(kind.choices), value)
        return str(value)
    return _SCALARS[kind.shape](value, where)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong(where, "a list", value)
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, "text", value)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"`{where}` holds half a surrogate pair, which is not text") from None
    return value


def _timestamp(value: Any, where: str) -> str:
    if not isinstance(value, str) or not is_timestamp(value):
        raise _wrong(where, "a time in UTC like 2026-01-31T09:30:00Z", value)
    return value


def _share(value: Any, where: str) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise _wrong(where, "a number from 0 to 1", value)
    return float(value)


def _count(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _wrong(where, "a whole number from 0", value)
    return value


def _number(value: Any, where: str) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not abs(value) <= _LARGEST:
        raise _wrong(where, "a number", value)
    return float(value)


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(where, "true or false", value)
    return value


def _counts(value: Any, where: str) -> dict[str, int]:
    if not isinstance(value, dict):
        raise _wrong(where, "a mapping of names to whole numbers", value)
    return {str(key): _count(item, f"{where}.{key}") for key, item in value.items()}


_SCALARS = {
    "text": _text,
    "time": _timestamp,
    "share": _share,
    "count": _count,
    "flag": _flag,
    "number": _number,
    "counts": _counts,
}


def _wrong(where: str, expected: str, value: Any) -> InvalidInput:
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return InvalidInput(f"`{where:.200}` must be {expected}, not `{shown}`")
