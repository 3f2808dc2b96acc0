"""JSON by the C functions that Python's own `json` is made of.

`json` itself brings regular expressions along, which cost a hook a quarter of a bare Python start.
Where the C functions are not there, `json` does the same.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Pairs = Callable[[list[tuple[str, Any]]], Any]
    Word = Callable[[str], Any]

_BLANKS = " \t\n\r"
_CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _ScannerOptions:
    """What the scanner asks for, under the names by which it does."""

    strict = True
    object_hook = None
    parse_int = int

    def __init__(
        self,
        pairs: Pairs | None,
        number: Word,
        constant: Word,
    ) -> None:
        self.object_pairs_hook = pairs
        self.parse_float = number
        self.parse_constant = constant


def decoder(
    *,
    pairs: Pairs | None = None,
    number: Word = float,
    constant: Word = _CONSTANTS.__getitem__,
) -> Callable[[str], Any]:
    """Return a function that reads one JSON text, or raises `ValueError` or `RecursionError`.

    pairs makes an object of its members, number a float of its digits, constant a value of NaN.
    """
    try:
        from _json import make_scanner
    except ImportError:
        return _slow_decoder(pairs, number, constant)
    scan = make_scanner(_ScannerOptions(pairs, number, constant))  # type: ignore[arg-type]

    def decode(text: str) -> Any:
        stripped = text.strip(_BLANKS)
        try:
            value, end = scan(stripped, 0)
        except (StopIteration, SystemError):
            end = -1  # the scanner leaves it to `json` to say what is wrong
        return value if end == len(stripped) else _slow_decoder(pairs, number, constant)(text)

    return decode


def _slow_decoder(pairs: Pairs | None, number: Word, constant: Word) -> Callable[[str], Any]:
    from json import JSONDecoder

    return JSONDecoder(object_pairs_hook=pairs, parse_float=number, parse_constant=constant).decode


def encoder(
    *, members: str = ", ", colon: str = ": ", sort_keys: bool = False, allow_nan: bool = True
) -> Callable[[Any], str]:
    """Return a function that writes a value as JSON with these separators."""
    try:
        from _json import encode_basestring, make_encoder
    except ImportError:
        from json import JSONEncoder

        return JSONEncoder(
            ensure_ascii=False,
            separators=(members, colon),
            sort_keys=sort_keys,
            allow_nan=allow_nan,
        ).encode
    encode = make_encoder(
        None, _refuse, encode_basestring, None, colon, members, sort_keys, False, allow_nan
    )
    return lambda value: "".join(encode(value, 0))


def _refuse(value: object) -> None:
    raise TypeError(f"{type(value).__name__} is nothing that JSON has")


decode = decoder()
"""Reads one JSON text."""
encode = encoder()
"""Writes a value."""
quoted: Callable[[str], str] = encode
"""Writes a text."""
try:  # a calm hook loads this module, and `suppress` would bring contextlib along
    from _json import encode_basestring

    quoted = encode_basestring
except ImportError:
    pass  # `encode` does the same


def cut_nesting(data: bytes, deepest: int = 100) -> bytes:
    """Return a JSON text with null in the place of what is nested deeper than so many levels."""
    import re

    depth = start = 0
    parts = []
    for token in re.finditer(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', data, re.DOTALL):
        if token[0] in (b"[", b"{"):
            depth += 1
            if depth == deepest + 1:
                parts += [data[start : token.start()], b"null"]
        elif token[0] in (b"]", b"}"):
            if depth == deepest + 1:
                start = token.end()
            depth -= 1
    return b"".join([*parts, data[start:]])
