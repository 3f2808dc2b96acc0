"""Frozen records for every border of the program.

The standard library's `dataclasses` imports `inspect` and compiles each class from source, which
takes longer than the whole calm hook may. Type checkers see `Value` as a frozen dataclass; at run
time it is the few lines below.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self, dataclass_transform
else:

    def dataclass_transform(**_options):  # noqa: D103
        return lambda cls: cls


_set = object.__setattr__


@dataclass_transform(frozen_default=True)
class Value:
    """An immutable record: annotated names are its fields, class attributes their defaults."""

    field_names: ClassVar[tuple[str, ...]] = ()
    _accepted: ClassVar[set[str]] = set()
    _required: ClassVar[set[str]] = set()

    if not TYPE_CHECKING:

        def __init_subclass__(cls) -> None:
            namespace = vars(cls)
            declared = namespace.get("__annotations__", {}).items()
            own = [name for name, of in declared if not of.startswith("ClassVar")]
            cls.field_names = (*cls.field_names, *own)
            cls._accepted = {*cls.field_names}
            cls._required = {*cls._required, *(name for name in own if name not in namespace)}

        def __init__(self, *args, **kwargs) -> None:
            values = self.__dict__
            values.update(zip(self.field_names, args, strict=False), **kwargs)
            if len(args) > len(self.field_names) or not values.keys() <= self._accepted:
                raise TypeError(f"`{type(self).__name__}` takes the fields {self.field_names}")
            if not self._required <= values.keys():
                missing = sorted(self._required - values.keys())
                raise TypeError(f"`{type(self).__name__}` needs {missing}")

        def __setattr__(self, name, value) -> None:
            raise AttributeError(f"`{type(self).__name__}` is frozen; use `replace`")

    @classmethod
    def _of(cls, values: dict[str, Any]) -> Self:
        """Return a record of fields that were checked already; the dictionary is its own now."""
        made = object.__new__(cls)
        _set(made, "__dict__", values)
        return made

    def replace(self, **changes: Any) -> Self:
        """Return a copy with the named fields changed."""
        if not changes.keys() <= self._accepted:
            raise TypeError(f"`{type(self).__name__}` takes the fields {self.field_names}")
        return self._of({**vars(self), **changes})

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.field_names)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.field_names))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.field_names)
        return f"{type(self).__name__}({shown})"
