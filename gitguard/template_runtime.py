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
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


class Markup(str):
    """HTML of our own making, which is put in as it is; Jinja knows such texts by the method."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the markup itself."""
        return self


_ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"}


def escape(value: object) -> str:
    """Return a value as HTML shows it; a template for HTML puts in nothing without this."""
    if hasattr(value, "__html__"):
        return str(value.__html__())
    text = str(value)
    for mark, entity in _ESCAPED.items():  # the ampersand first, or it would escape the others
        text = text.replace(mark, entity)
    return text


class TemplateRuntimeError(Exception):
    """A template names what it was not given, or a filter that we do not have."""


def _undefined(hint: str = "", *, name: str = "") -> Any:
    raise TemplateRuntimeError(hint or f"the template's `{name}` was not given")


def Undefined(_: str) -> str:  # noqa: N802 - Jinja's names
    """Return what a condition without an `else` gives."""
    return ""


def Macro(_: object, function: Callable[..., str], *options: object) -> Callable[..., str]:  # noqa: N802
    """Return a macro's function: ours take their arguments by position.

    The last of Jinja's options is whether values are escaped; then what the macro makes is markup.
    """
    if options[-1] is not True:
        return function
    return lambda *arguments: Markup(function(*arguments))


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


class _Escaping:
    """What filters and macros may ask for."""

    def __init__(self, escapes: bool) -> None:  # noqa: FBT001
        self.autoescape = escapes


class Context:
    """The values of one rendering."""

    def __init__(self, values: dict[str, object], *, escapes: bool = False) -> None:
        """Keep the values, and room for what a template defines; escapes is whether it is HTML."""
        self.vars = dict(values)
        self.exported_vars: set[str] = set()
        self.eval_ctx = _Escaping(escapes)

    def resolve_or_missing(self, name: str) -> object:
        """Return a value, or what stands for none."""
        return self.vars.get(name, missing)

    @staticmethod
    def call(function: Callable[..., str], *arguments: object, _loop_vars: object = None) -> str:
        """Call a macro; Jinja hands over the variables of the loop around it, which ours ignore."""
        return function(*arguments)
