"""What compiled templates run on, by the names that Jinja's compiler gives it."""

from __future__ import annotations

from gitguard.model.text import one_line, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

missing = object()


def internalcode(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function itself: only Jinja's debugger tells its own code apart."""
    return function


def finalize(value: object) -> object:
    """Return a value as it is put in: text without what a reader cannot see."""
    return visible(value) if isinstance(value, str) else value


class TemplateRuntimeError(Exception):
    """A template names what it was not given, or a filter that we do not have."""


def _undefined(hint: str = "", *, name: str = "") -> Any:
    raise TemplateRuntimeError(hint or f"the template's `{name}` was not given")


def Undefined(_: str) -> str:  # noqa: N802 - Jinja's names
    """Return what a condition without an `else` gives."""
    return ""


def Macro(_: object, function: Callable[..., str], *__: object) -> Callable[..., str]:  # noqa: N802
    """Return a macro's function: ours take their arguments by position."""
    return function


def _attribute(item: Any, name: str) -> Any:
    try:
        return getattr(item, name)
    except AttributeError:
        return _undefined(name=name)


def _join(_: object, items: Any, mark: str) -> str:
    return mark.join(map(str, items))


class Runtime:
    """The environment of a compiled template."""

    undefined = staticmethod(_undefined)
    concat = staticmethod("".join)
    finalize = staticmethod(finalize)
    getattr = staticmethod(_attribute)
    getitem = staticmethod(lambda items, key: items[key])
    filters = {"oneline": one_line, "join": _join}  # noqa: RUF012


class Context:
    """The values of one rendering."""

    class eval_ctx:  # noqa: N801 - Jinja's name
        """What filters may ask for."""

        autoescape = False

    def __init__(self, values: dict[str, object]) -> None:
        """Keep the values, and room for what a template defines."""
        self.vars = dict(values)
        self.exported_vars: set[str] = set()

    def resolve_or_missing(self, name: str) -> object:
        """Return a value, or what stands for none."""
        return self.vars.get(name, missing)

    @staticmethod
    def call(function: Callable[..., str], *arguments: object) -> str:
        """Call a macro."""
        return function(*arguments)
