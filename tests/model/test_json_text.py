"""The C functions read and write JSON as Python's own `json` does, which hooks cannot afford."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model import codec
from gitguard.model.codec import cut_nesting, encode_json, json_decoder, json_encoder, parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
BAD = [
    "{'a':1}",
    "[" * 9,
    "",
    " ",
    "{",
    "[1,]",
    '{"a":1,}',
    "nul",
    "1 2",
    "\ufeff{}",
    '"\x01"',
    '"',
    "{'a':1}",
    "[" * 9,
]


def outcome(read: Callable[[str], object], text: str) -> str:
    try:
        return repr(read(text))
    except ValueError as error:
        return f"refused: {error}"


@given(VALUES)
def test_what_is_written_is_what_json_writes(value: object) -> None:
    assert encode_json(value) == json.dumps(value, ensure_ascii=False)
    tight = json_encoder(members=",", colon=":", sort_keys=True)
    wanted = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    assert tight(value) == wanted


@given(VALUES, st.booleans())
def test_what_is_read_is_what_json_reads(value: object, ascii: bool) -> None:
    text = f" \n{json.dumps(value, ensure_ascii=ascii)}\t"
    assert parse_json(text) == json.loads(text) == value


@given(st.text(st.sampled_from('{}[]",:0123456789.eE+-\\unltrfasNI \n')))
def test_what_json_refuses_is_refused_in_the_same_words(text: str) -> None:
    assert outcome(parse_json, text) == outcome(json.loads, text)


@pytest.mark.parametrize("text", BAD)
def test_a_process_without_json_refuses_what_is_no_json(text: str) -> None:
    program = (
        "import sys; from gitguard.model.codec import parse_json\n"
        "assert 'json' not in sys.modules\n"
        "try: parse_json(sys.argv[1])\n"
        "except ValueError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, text], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip()


def test_without_the_c_functions_json_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_json", None)
    value = {"b": [1, 2.5, None], "a": "ä\n"}
    text = json_encoder(sort_keys=True)(value)
    assert text == json.dumps(value, ensure_ascii=False, sort_keys=True)
    assert json_decoder()(text) == value


class Key(str):
    """A key that counts how often keys are compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Key.compared += 1
        return str(self) == other

    __hash__ = str.__hash__


def test_a_key_that_stands_there_twice_is_found_by_looking_at_each_key_once() -> None:
    pairs = [(Key(f"k{number}"), 0) for number in range(5_000)]
    with pytest.raises(ValueError, match="the key `k4999` occurs twice"):
        codec._without_duplicates([*pairs, (Key("k4999"), 1)])
    assert Key.compared < 3 * len(pairs)


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes"])
def test_what_is_no_json_is_not_written(value: object) -> None:
    with pytest.raises(TypeError):
        encode_json(value)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (b'{"a": [1, {"b": [2]}, "]"]}', b'{"a": [1, null, "]"]}'),
        (b'{"a\\"[": [[], [3]], "b": {}}', b'{"a\\"[": [null, null], "b": {}}'),
        (b'{"a": [1]}', b'{"a": [1]}'),
    ],
)
def test_only_what_is_nested_too_deeply_is_cut(text: bytes, cut: bytes) -> None:
    assert cut_nesting(text, 2) == cut
