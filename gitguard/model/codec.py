"""Bytes to plain data and back: strict JSON, the one door to YAML, and digests.

Everything that is read may have been written by somebody else, so sizes are checked first and
duplicate keys, NaN, YAML aliases and endless nesting are refused.

JSON goes by the C functions that Python's own `json` is made of, and digests by those of `hashlib`:
`json` brings regular expressions along, which cost a hook a quarter of a bare Python start, and
`hashlib` loads OpenSSL. Where the C functions are not there, `json` and `hashlib` do the same.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument, NewerFormat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Pairs = Callable[[list[tuple[str, Any]]], Any]
    Word = Callable[[str], Any]

_BLANKS = " \t\n\r"
_CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _ScannerOptions:
    """What the scanner asks for, under the names by which it does."""

    strict = True
    object_hook = None
    array_hook = None  # since Python 3.15
    parse_int = int

    def __init__(self, pairs: Pairs | None, number: Word, constant: Word) -> None:
        self.object_pairs_hook = pairs
        self.parse_float = number
        self.parse_constant = constant


def json_decoder(
    *, pairs: Pairs | None = None, number: Word = float, constant: Word = _CONSTANTS.__getitem__
) -> Callable[[str], Any]:
    """Return a function that reads one JSON text, or raises `ValueError` or `RecursionError`.

    pairs makes an object of its members, number a float of its digits, constant a value of NaN.
    """
    try:
        from _json import make_scanner

        scan = make_scanner(_ScannerOptions(pairs, number, constant))  # type: ignore[arg-type]
    except (ImportError, AttributeError):  # a later Python may ask for more
        return _slow_decoder(pairs, number, constant)

    def decode(text: str) -> Any:
        try:
            value, end = scan(text, len(text) - len(text.lstrip(_BLANKS)))
            if not text[end:].strip(_BLANKS):
                return value
        except (StopIteration, SystemError):
            pass  # the scanner leaves it to `json` to say what is wrong
        return _slow_decoder(pairs, number, constant)(text)

    return decode


def _slow_decoder(pairs: Pairs | None, number: Word, constant: Word) -> Callable[[str], Any]:
    from json import JSONDecoder

    return JSONDecoder(object_pairs_hook=pairs, parse_float=number, parse_constant=constant).decode


def json_encoder(
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


parse_json = json_decoder()
"""Reads one JSON text."""
encode_json = json_encoder()
"""Writes a value."""
quoted: Callable[[str], str] = encode_json
"""Writes a text."""
try:  # a calm hook loads this module, and `suppress` would bring contextlib along
    from _json import encode_basestring

    quoted = encode_basestring
except ImportError:
    pass  # `encode_json` does the same


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


STATE_FILE = "state.json"
SUMMARY_FILE = "summary.md"
STATE_LIMIT = 256 * 1024
"""Largest state, summary or snapshot that is read or written, in bytes."""


_UNREADABLE = (ValueError, RecursionError, AttributeError, TypeError, LookupError, ArithmeticError)
"""What the reader of YAML raises besides its own errors where a scalar is not what its tag says."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DEEPEST_YAML = 32
"""How deep YAML may be nested; reading takes time by the square of the depth."""
_IN_TOP_MAPPING = 3
"""How deep the parser is there: the stream, the document and the mapping have begun."""


def check_size(size: int, *, what: str, limit: int = STATE_LIMIT) -> None:
    """Refuse a document larger than limit bytes before it is read."""
    if size > limit:
        raise InvalidDocument(
            f"{what} has {size:,} bytes; the limit is {limit:,}",
            "Shorten it, or restore an earlier one: `gitguard log`, `gitguard restore CHECKPOINT`",
        )


def load_json(data: bytes, *, what: str, limit: int = STATE_LIMIT) -> dict[str, Any]:
    """Read one JSON object, or raise `InvalidDocument` naming what it should have been."""
    check_size(len(data), what=what, limit=limit)
    try:
        document = decode_json(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        marked = data.startswith(_BYTE_ORDER_MARK)
        why = "it begins with a byte order mark" if marked else _one_line(error)
        raise InvalidDocument(f"{what} is not valid JSON: {why}") from error
    if not isinstance(document, dict):
        raise InvalidDocument(f"{what} must be a JSON object")
    return document


def check_format(document: dict[str, Any], ours: int, *, what: str) -> None:
    """Refuse a document in another format than ours."""
    version = document.get("format")
    if isinstance(version, int) and version > ours:
        raise NewerFormat(f"{what} has format {version}", "upgrade gitguard")
    if version != ours or isinstance(version, bool):
        raise InvalidDocument(f"{what} has no format that gitguard knows: `{version!r:.40}`")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        earlier: set[str] = set()
        for name, _ in pairs:
            if name in earlier:
                raise ValueError(f"the key `{name[:80]}` occurs twice")
            earlier.add(name)
    return members


def _refuse_constant(name: str) -> None:
    raise ValueError(f"`{name}` is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"`{digits[:40]}` is too large a number")
    return number


def _one_line(error: BaseException) -> str:
    text = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return " ".join(text.split())[:200]


def dump_json(document: dict[str, Any]) -> bytes:
    """Write an object with sorted keys and one list item a line, so that diffs read well."""
    members = [f"  {_compact(key)}: {_member(document[key])}" for key in sorted(document)]
    return ("{\n" + ",\n".join(members) + "\n}\n").encode()


def _member(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return _compact(value)
    return "[\n" + ",\n".join(f"    {_compact(item)}" for item in value) + "\n  ]"


decode_json = json_decoder(pairs=_without_duplicates, number=_finite, constant=_refuse_constant)
"""Reads one JSON text without keys that stand twice; raises `ValueError` or `RecursionError`."""
_compact = json_encoder(sort_keys=True, allow_nan=False)
_tight = json_encoder(members=",", colon=":")


def dump_line(document: dict[str, Any]) -> bytes:
    """Write an object as one line, for append-only files."""
    return f"{_tight(document)}\n".encode("utf-8", "replace")


def load_yaml(
    data: bytes, *, what: str, limit: int = STATE_LIMIT, before: str = ""
) -> dict[str, Any]:
    """Read one YAML mapping of plain values; aliases, tags and several documents are refused.

    before is a key of that mapping: what comes from there on is neither read nor checked, which
    saves most of the time that a long document takes.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    check_size(len(data), what=what, limit=limit)
    try:
        text = data.decode("utf-8")
        end = _end_of_members(YAML(typ="safe", pure=True).parse(text), what, before)
        document = YAML(typ="safe", pure=True).load(text[:end])
    except (YAMLError, *_UNREADABLE) as error:
        raise InvalidDocument(f"{what} is not valid YAML: {_yaml_problem(error)}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise InvalidDocument(f"{what} must be a YAML mapping, not {type(document).__name__}")
    _refuse_odd_keys(document, what)
    return document


def _end_of_members(events: Iterable[Any], what: str, before: str) -> int | None:
    """Return the character at which a top-level key stands, None for the end of the document.

    Raises `InvalidDocument` for aliases and for what is nested too deeply on the way there.
    """
    depth = nodes = 0
    for event in events:
        kind = type(event).__name__
        if kind == "AliasEvent":
            raise InvalidDocument(f"{what} uses a YAML alias, which is refused")
        if depth == _IN_TOP_MAPPING and not kind.endswith("EndEvent"):
            is_key = nodes % 2 == 0  # keys and values take turns
            nodes += 1
            if is_key and before and kind == "ScalarEvent" and event.value == before:
                return int(event.start_mark.index)
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        if depth > _DEEPEST_YAML:
            raise InvalidDocument(f"{what} is nested too deeply")
    return None


def _yaml_problem(error: BaseException) -> str:
    """Return what the parser says is wrong and where, without the text around it."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or not problem:
        return _one_line(error).replace('in "<unicode string>", ', "at ")
    description = str(problem).partition(" with value ")[0]  # a duplicate key's value says nothing
    description = " ".join(description.split())[:200]
    return f"{description} in line {mark.line + 1}, column {mark.column + 1}"


def _refuse_odd_keys(value: Any, what: str) -> None:
    if isinstance(value, list):
        for item in value:
            _refuse_odd_keys(item, what)
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidDocument(f"{what} has the key `{key!r:.80}`, which is not text")
            _refuse_odd_keys(item, what)


def dump_yaml(document: dict[str, Any], *, block: frozenset[str] = frozenset()) -> bytes:
    """Write a mapping; text under a key in `block` as block scalars, all other text in quotes.

    Writing needs so little of YAML that importing a library for it would cost a hook three bare
    starts of Python; reading, which meets everything, does import one.
    """
    return ("\n".join(_yaml_members(document, "", block)) + "\n").encode()


def _yaml_members(document: dict[str, Any], indent: str, block: frozenset[str]) -> Iterator[str]:
    for key, value in document.items():
        first, *lines = _yaml_lines(value, indent, block, is_free=key in block)
        yield f"{indent}{key if _is_plain(key) else _quoted(key)}:{first}"
        yield from lines


def _is_plain(key: str) -> bool:
    return key.isascii() and key.isidentifier() and key.lower() not in ("true", "false", "null")


def _yaml_lines(
    value: Any, indent: str, block: frozenset[str], *, is_free: bool = False
) -> Iterator[str]:
    """Yield what follows a colon or a dash, then the lines below it."""
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        yield ""
        yield from _yaml_members(value, deeper, block)
    elif isinstance(value, list) and value:
        yield ""
        for item in value:
            if isinstance(item, dict) and item:
                first, *lines = _yaml_members(item, deeper + "  ", block)
                yield f"{deeper}- {first.lstrip()}"
            else:
                first, *lines = _yaml_lines(item, deeper, block)
                yield f"{deeper}-{first}"
            yield from lines
    elif (
        isinstance(value, str)
        # A block scalar can carry neither control characters nor leading or trailing blank space.
        and (is_free and value and value == value.strip())
        and all(c == "\n" or c.isprintable() for c in value)
    ):
        yield " |-"
        yield from (f"{deeper}{line}" if line else "" for line in value.split("\n"))
    else:
        yield f" {_quoted(value) if isinstance(value, str) else _compact(value)}"


def _quoted(text: str) -> str:
    # JSON's quotes are YAML's, but YAML breaks lines at characters that JSON leaves as they are.
    quoted = encode_json(text)
    if quoted.isprintable():
        return quoted
    return "".join(c if c.isprintable() else _escaped(ord(c)) for c in quoted)


def _escaped(code: int) -> str:
    return f"\\U{code:08x}"


try:
    from _sha2 import sha256 as _sha256  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha256 import sha256 as _sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256 as _sha256


def sha256(data: bytes) -> str:
    """Return the SHA-256 of data in hexadecimal digits."""
    return str(_sha256(data).hexdigest())
