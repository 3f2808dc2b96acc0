"""A JSON text of any size is cut before it is parsed, and nothing in it becomes something else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.bounded_json import JsonLimits, bounded

SMALL = JsonLimits(text=64, parts=12, size=200)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text('ab{}[]",:\\\n é😀', max_size=120)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text("abc{,:[\\", max_size=3), inner)
    ),
    max_leaves=20,
)
DOCUMENTS = st.dictionaries(st.text('abc: ["', min_size=1, max_size=3), VALUES, max_size=8)


def keys_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from keys_in(inner)


@given(DOCUMENTS, st.booleans())
def test_a_document_within_the_limits_stays_as_it_is(
    document: dict[str, Any], is_ascii: bool
) -> None:
    data = json.dumps(document, ensure_ascii=is_ascii).encode()
    assert bounded(data) == data


@given(DOCUMENTS, st.booleans())
def test_what_stands_in_a_text_never_becomes_a_member(
    document: dict[str, Any], is_ascii: bool
) -> None:
    data = json.dumps(document, ensure_ascii=is_ascii).encode()
    cut = json.loads(bounded(data, limits=SMALL))
    assert set(cut) <= set(document)
    assert set(keys_in(cut)) <= set(keys_in(document))


@given(DOCUMENTS, st.booleans(), st.integers(1, 400), st.integers(0, 200))
def test_the_two_ends_of_a_document_give_no_member_that_it_does_not_have(
    document: dict[str, Any], is_ascii: bool, held: int, length: int
) -> None:
    data = json.dumps({"z": 1, **document}, ensure_ascii=is_ascii).encode()
    end = data[max(len(data) - length, held) :]
    if not end:
        return
    try:
        cut = json.loads(bounded(data[:held], end, SMALL))
    except ValueError:
        return  # what is held may be no more than a bracket
    assert set(cut) <= {"z", *document}
    assert set(keys_in(cut)) <= {"z", *keys_in(document)}


@given(st.text('ab"\\\n é😀\x7f', min_size=200, max_size=400), st.booleans())
def test_a_long_text_keeps_its_beginning_and_its_end(text: str, is_ascii: bool) -> None:
    data = json.dumps({"a": text, "b": 1}, ensure_ascii=is_ascii).encode()
    cut = json.loads(bounded(data, limits=SMALL))
    head, mark, tail = cut["a"].partition(" [")
    bytes_left_out, _, end = tail.partition("] ")
    assert mark
    assert "bytes left out" in bytes_left_out
    assert text.encode("utf-16", "surrogatepass").startswith(head.encode("utf-16", "surrogatepass"))
    assert text.encode("utf-16-le", "surrogatepass").endswith(
        end.encode("utf-16-le", "surrogatepass")
    )
    assert cut["b"] == 1


def test_members_behind_too_many_parts_are_read_from_the_end() -> None:
    document = {"first": 1, "todos": [{"n": n} for n in range(1_000)], "id": "t1", "last": [2]}
    cut = json.loads(bounded(json.dumps(document).encode(), limits=SMALL))
    assert cut["first"] == 1
    assert cut["todos"] == document["todos"][: len(cut["todos"])]  # type: ignore[index]
    assert (cut["id"], cut["last"]) == ("t1", [2])


@pytest.mark.parametrize(
    "value",
    [
        *("[" * 400 + "]" * 400, "[" * 400, "{" * 400, '{"a":' * 400),
        *("9" * 5_000, "[" + "0," * 999),
    ],
)
def test_an_invalid_text_stays_invalid_and_a_valid_one_valid(value: str) -> None:
    data = f'{{"a": {value}, "z": 1}}'.encode()
    try:
        json.loads(data.replace(b"9" * 5_000, b"9"))
    except ValueError:
        assert b'"a"' in bounded(data, limits=SMALL)
        return
    assert json.loads(bounded(data, limits=SMALL))["z"] == 1


@pytest.mark.parametrize(
    ("middle", "is_named"),
    [
        ("x" * 200, False),
        ("x" * 99 + "; gitguard override" + "x" * 99, True),
        ("x" * 99 + "; git''gu\"\"ard override" + "x" * 99, True),
        ("x" * 99 + "; git\\\nguard override" + "x" * 99, True),
        ("x" * 99 + "; GITGUARD override" + "x" * 99, True),
    ],
)
def test_what_is_left_out_of_a_command_is_said_where_it_may_name_gitguard(
    middle: str, is_named: bool
) -> None:
    data = json.dumps({"command": f"echo {middle} end"}).encode()
    command = json.loads(bounded(data, limits=SMALL))["command"]
    assert ("gitguard" in command) is is_named
