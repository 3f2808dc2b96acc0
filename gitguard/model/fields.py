"""How a record declares its fields: one line says type, meaning and default.

Reading, error messages and the JSON Schema all come from it, so they cannot drift apart.
"""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    # A `Record`'s type; records import this module, so it cannot name theirs.
    RecordType = type[Any]


class Later:
    """A record's type that is imported when somebody asks for it: hooks pay for every import."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def record(self) -> RecordType:
        """Import the type."""
        module = __import__(self._module, fromlist=[self._name])
        record: RecordType = getattr(module, self._name)
        return record

    def default(self) -> Any:
        """Return what stands in a class for the record with its defaults."""
        return _Default(self)


class _Default:
    def __init__(self, of: Later) -> None:
        self._of = of

    def __get__(self, owner: Any, _type: RecordType) -> Any:
        return self._of.record()()


class Kind(Value):
    """What one field holds: its type, and where it applies its choices, record and list rule."""

    shape: str
    doc: str
    choices: tuple[str, ...] = ()
    of: RecordType | Later | None = None
    """Of `record` and `records`: which."""
    appends: bool = False
    """Whether `update` adds to the list or replaces it."""
    always: bool = False
    """Whether it is written even when it is null or false; null is read then."""
    sparse: bool = False
    """Whether the default is left out of documents, as what many items have and few need."""
    is_fixed: bool = False
    """Whether gitguard alone sets it."""
    noted: Any = None
    """Of what an agent notes: its role and its words."""
    describes: str = ""
    """Of what tells more about another field: which. Both change together."""
    key: str = ""
    """Of a list that has one item of each kind: the item's field that tells them apart."""
    default: Any = ...
    """What stands where nothing is written; an ellipsis where something has to be."""

    @property
    def record(self) -> RecordType | None:
        """The record that the field holds, or holds a list of."""
        return self.of.record() if isinstance(self.of, Later) else self.of

    @property
    def is_free_text(self) -> bool:
        """Whether any text will do."""
        return self.shape == "text" and not self.choices

    @property
    def may_be_null(self) -> bool:
        """Whether null is the same as nothing."""
        return self.always or self.shape == "record"

    @property
    def is_list(self) -> bool:
        """Whether the field is a list."""
        return self.shape in ("texts", "records")


def _declared(shape: str, doc: str, options: dict[str, Any]) -> Any:
    options.pop("kw_only", None)
    if not options.keys() <= Kind._accepted:
        raise TypeError(f"`{shape}` takes the options {Kind.field_names}")
    # Every hook declares more than a hundred fields, so nothing else is asked of them.
    return Kind._of({"shape": shape, "doc": doc, **options})


def text(doc: str, **options: Any) -> Any:
    """Any text, or one of `choices`."""
    return _declared("text", doc, options)


def time(doc: str, **options: Any) -> Any:
    """A time in UTC like 2026-01-31T09:30:00Z."""
    return _declared("time", doc, options)


def share(doc: str, **options: Any) -> Any:
    """A number from 0 to 1."""
    return _declared("share", doc, options)


def count(doc: str, **options: Any) -> Any:
    """A whole number from 0."""
    return _declared("count", doc, options)


def number(doc: str, **options: Any) -> Any:
    """A number."""
    return _declared("number", doc, options)


def flag(doc: str, **options: Any) -> Any:
    """True or false."""
    return _declared("flag", doc, options)


def counts(doc: str, **options: Any) -> Any:
    """A mapping of names to whole numbers."""
    return _declared("counts", doc, options)


def texts(doc: str, **options: Any) -> Any:
    """A list of texts."""
    return _declared("texts", doc, options)


def record(doc: str, of: RecordType | Later, **options: Any) -> Any:
    """A record; null is nothing."""
    return _declared("record", doc, {"of": of, **options})


def records(doc: str, of: RecordType | Later, **options: Any) -> Any:
    """A list of records."""
    return _declared("records", doc, {"of": of, **options})


def unwritten(default: Any, *, kw_only: bool = False) -> Any:
    """Return the default of a field that the document does not hold under its name."""
    return default
