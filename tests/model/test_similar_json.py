"""Objects that follow one another are read line by line, and exactly as one by one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitguard.errors import InvalidDocument
from gitguard.model.codec import dump_json, load_json
from gitguard.model.similar_json import SimilarObjects

LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab{}[]",:\\\n é', max_size=6)
ITEMS = st.lists(LEAVES | st.dictionaries(st.text("ab:[", max_size=2), LEAVES, max_size=2))
DOCUMENTS = st.dictionaries(st.text("abc: [", max_size=3), LEAVES | ITEMS, max_size=4)
LINES = st.sampled_from(
    (
        *("{", "}", '  "a": [', '  "a": 1', '  "a": 1,', '  "b": "x: ["', '  "a": 1, "b": 2'),
        *('  "a": [],', "    1", "    1,", "    1, 2", "  ]", "  ],", "", ",", "    {},"),
        *("}, {", '  "a": 1}, {"c": 2', '  "b": 1, "b": 2', '  "b": [', "  1: [", "    NaN"),
        *("    1e999", "    [", '"'),
    )
)
TEXTS = st.lists(LINES, max_size=8).map(lambda lines: "\n".join(["{", *lines, "}", ""]))


def read_by_itself(data: bytes) -> dict[str, Any] | str:
    try:
        return load_json(data, what="it")
    except InvalidDocument as error:
        return error.message


def read_by(reader: SimilarObjects, data: bytes) -> dict[str, Any] | str:
    try:
        return reader.load(data)
    except InvalidDocument as error:
        return error.message


@given(st.lists(DOCUMENTS, max_size=5))
def test_objects_that_follow_one_another_are_read_as_each_by_itself(
    documents: list[dict[str, Any]],
) -> None:
    reader = SimilarObjects(what="it")
    for document in documents:
        assert reader.load(dump_json(document)) == document


@given(st.lists(TEXTS, max_size=5))
def test_texts_of_any_lines_are_read_or_refused_as_each_by_itself(texts: list[str]) -> None:
    reader = SimilarObjects(what="it")
    for text in texts:
        assert read_by(reader, text.encode()) == read_by_itself(text.encode())


@given(st.binary(max_size=40), st.sampled_from((b"", b"{\n", b"\xef\xbb\xbf{\n")))
def test_any_bytes_are_read_or_refused_as_by_themselves(data: bytes, start: bytes) -> None:
    whole = start + data + b"\n}\n"
    assert read_by(SimilarObjects(what="it"), whole) == read_by_itself(whole)


def test_a_key_that_stands_in_two_lines_is_refused_after_an_object_that_has_it_once() -> None:
    reader = SimilarObjects(what="it")
    reader.load(b'{\n  "a": 1\n}\n')

    assert "occurs twice" in str(read_by(reader, b'{\n  "a": 1,\n  "a": 1\n}\n'))
