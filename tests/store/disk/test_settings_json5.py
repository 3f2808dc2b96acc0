"""JSON with comments: what it says, and that a changed value is all that changes."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.errors import InvalidDocument
from gitguard.model.document_edits import GONE, Edit, differences, is_same
from gitguard.store.disk import toml_text
from gitguard.store.disk.json5_text import edited, load

NAMES = st.text(st.characters(codec="utf-8"), max_size=6)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | NAMES
VALUES = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=3)
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
COMMENTED = """\
// what stands before
{
  // a reason
  model: 'a/b', // unquoted, single
  "env": {"A": "1", /* kept */ },
  list: [1, 0x1F, +.5, -Infinity,],
  long: "one \\
two",
}
// and after
"""


def changed(text: str, path: str, value: str) -> str:
    return edited(text, [Edit(tuple(path.split(".")), json.loads(value))], what="`x`")


def test_everything_that_json5_has_is_read() -> None:
    assert load(COMMENTED, what="`x`") == {
        "model": "a/b",
        "env": {"A": "1"},
        "list": [1, 31, 0.5, float("-inf")],
        "long": "one two",
    }


def test_a_name_is_read_with_its_escapes() -> None:
    assert load("{\\u0061b: {m\\u006fre: 1}}", what="`x`") == {"ab": {"more": 1}}
    assert changed("{m\\u006fdel: 1}", "model", "2") == "{m\\u006fdel: 2}"


def test_comments_order_and_quotes_stay_when_a_value_changes() -> None:
    assert changed(COMMENTED, "model", '"c/d"') == COMMENTED.replace("'a/b'", '"c/d"')


def test_a_new_member_stands_behind_the_last_in_the_same_way() -> None:
    expected = COMMENTED.replace('two",\n', 'two",\n  "compaction": {\n    "auto": true\n  },\n')
    assert changed(COMMENTED, "compaction.auto", "true") == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "a": {\n    "b": 1\n  }\n}'),
        ('{"x": 0}', '{"x": 0, "a": {"b": 1}}'),
        ('{"x": 0,}', '{"x": 0, "a": {"b": 1},}'),
        ('{"a": {}}', '{"a": {\n  "b": 1\n}}'),
        ('{\n\t"x": 0 // why\n}\n', '{\n\t"x": 0, // why\n\t"a": {\n\t\t"b": 1\n\t}\n}\n'),
        ("{\n  // nothing yet\n}", '{\n  // nothing yet\n  "a": {\n    "b": 1\n  }\n}'),
        ("{ // nothing yet\n}", '{ // nothing yet\n  "a": {\n    "b": 1\n  }\n}'),
        ('{\r\n  "x": 0\r\n}', '{\r\n  "x": 0,\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}'),
        ('{"x": 0 // why\r}', '{"x": 0, // why\r"a": {\r  "b": 1\r}\r}'),
        ('{\r\t"x": 0\r}', '{\r\t"x": 0,\r\t"a": {\r\t\t"b": 1\r\t}\r}'),
        ('{"x": 0 // why\u2028}', '{"x": 0, // why\n"a": {\n  "b": 1\n}\n}'),
        ('\ufeff{"a": {"b": 2, "b": 3}}', '\ufeff{"a": {"b": 2, "b": 1}}'),
        ('{"a": {"b": [1, 2]}, "x": "}"}', '{"a": {"b": 1}, "x": "}"}'),
    ],
)
def test_a_value_is_put_where_a_person_would_put_it(before: str, after: str) -> None:
    assert changed(before, "a.b", "1") == after
    assert load(after, what="`x`")["a"]["b"] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it ends too early in line 1, column 1"),
        ('{"a": 1', "it ends too early in line 1"),
        ('{\n  "a" 1}', "`1` is not expected in line 2, column 7"),
        ('{"a": 1 "b": 2}', '`"b"` is not expected'),
        ('{"a": tru}', "`tru` is not expected"),
        ('{"a": 1} {', "`{` is not expected"),
        ('{"a": "b}', "is not expected in line 1, column 7"),
        ("[1]", "does not hold an object"),
        ('{"a": ' + "[" * 200, "nested too deeply"),
        ("{1: 2}", "`1` is not expected"),
        ("{,}", "`,` is not expected"),
        ('{"a": ' + "9" * 5000 + "}", "is not expected"),
        ('{"a": \u0663}', "is not expected"),
        ('{"a": --1}', "`--1` is not expected"),
        ('{"a": 01}', "`01` is not expected"),
    ],
)
def test_what_is_no_json5_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        load(text, what="`x`")
    assert said in refused.value.message


def test_a_path_through_what_is_no_object_is_refused() -> None:
    with pytest.raises(InvalidDocument, match=r"`a` in `x` is not an object"):
        changed('{"a": 1}', "a.b", "1")


@given(OBJECTS, st.sampled_from([None, 2, "\t"]))
def test_all_json_reads_as_python_reads_it(document: dict[str, Any], indent: Any) -> None:
    assert load(json.dumps(document, indent=indent), what="`x`") == document
    assert load(json.dumps(document, ensure_ascii=False), what="`x`") == document


@given(OBJECTS, st.lists(NAMES, min_size=1, max_size=3), VALUES, st.sampled_from([None, 2]))
def test_only_what_was_set_differs_afterwards(
    document: dict[str, Any], path: list[str], value: Any, indent: int | None
) -> None:
    text = json.dumps(document, indent=indent)
    expected = json.loads(text)
    place: Any = expected
    for name in path[:-1]:
        place = place.setdefault(name, {}) if isinstance(place, dict) else None
    try:
        after = edited(text, [Edit(tuple(path), value)], what="`x`")
    except InvalidDocument:
        assert not isinstance(place, dict)
        return
    place[path[-1]] = value
    assert json.loads(after) == expected


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ('{"a": 1, "b": 2}', ("a",), '{ "b": 2}'),
        ('{"a": 1, "b": 2}', ("b",), '{"a": 1}'),
        ('{"a": 1, "b": 2,}', ("b",), '{"a": 1,}'),
        ('{\n  "a": 1, // x\n  "b": 2, // y\n}', ("a",), '{ // x\n  "b": 2, // y\n}'),
        ('{"a": [1, /* , */ 2, 3]}', ("a", 1), '{"a": [1, /* , */ 3]}'),
        ('{"a": [1]}', ("a", 0), '{"a": []}'),
    ],
)
def test_what_is_taken_out_takes_its_comma_along_and_leaves_comments(
    before: str, path: tuple[str | int, ...], after: str
) -> None:
    assert edited(before, [Edit(path, GONE)], what="`x`") == after


COMMENTS = st.sampled_from(["", " ", "// {n}\n", "/* {n}, */", "\n// {n}\n  "])


@given(st.lists(st.tuples(COMMENTS, COMMENTS, COMMENTS, st.booleans()), max_size=5), COMMENTS)
def test_members_go_from_between_comments_and_the_comments_stay(
    members: list[tuple[str, str, str, bool]], last: str
) -> None:
    text = "{"
    stays: dict[str, int] = {}
    for n, (before, between, after, is_kept) in enumerate(members):
        parts = (before, f'"m{n}":', between, f"{n}", after, ",")
        text += "".join(part.replace("{n}", f"<{n}.{k}>") for k, part in enumerate(parts))
        stays |= {f"m{n}": n} if is_kept else {}
    text = text.rstrip(",") + last.replace("{n}", "<end>") + "}"
    left = edited(text, differences(load(text, what="`x`"), stays), what="`x`")
    assert load(left, what="`x`") == stays
    # What stands between a name and its value goes with them.
    marks = [mark for mark in re.findall(r"<[\d.end]+>", text) if not mark.endswith(".2>")]
    assert all(mark in left for mark in marks)


def test_what_is_added_to_a_list_stands_behind_its_last_item_in_the_same_way() -> None:
    text = '{"a": [1], b: [\n  1, // one\n]}'
    edits = [Edit(("a", 1), 2), Edit(("b", 1), 2)]
    assert edited(text, edits, what="`x`") == '{"a": [1, 2], b: [\n  1, // one\n  2,\n]}'


@given(OBJECTS, OBJECTS, st.sampled_from([None, 2, "\t"]))
def test_any_document_is_made_of_any_other(
    before: dict[str, Any], after: dict[str, Any], indent: Any
) -> None:
    text = json.dumps(before, indent=indent)
    changed = edited(text, differences(before, after), what="`x`")
    assert is_same(load(changed, what="`x`"), after)


TOML_NAMES = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=3)
TOML_VALUES = st.recursive(
    st.booleans() | st.integers(-9, 9) | TOML_NAMES,
    lambda below: st.lists(below, max_size=2) | st.dictionaries(TOML_NAMES, below, max_size=3),
)
TABLES = st.dictionaries(TOML_NAMES, TOML_VALUES, max_size=4)


@given(TABLES, TABLES)
def test_any_toml_is_made_of_any_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    text = toml_text.edited("# mine\n", differences({}, before), what="`x`")
    assert is_same(toml_text.load(text, what="`x`"), before)
    changed = toml_text.edited(text, differences(before, after), what="`x`")
    assert is_same(toml_text.load(changed, what="`x`"), after)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("path", [("ours",), ("list", 1), ("list", 0), ("above",)])
def test_what_is_taken_out_of_toml_leaves_the_comments_on_what_follows(
    path: tuple[str | int, ...], newline: str
) -> None:
    tables = ("[[list]]", "[[list]]", "[ours]", "[above.below]", "[theirs]")
    parts = (f"# on {n}\n{head}\nx = {n}\n\n" for n, head in enumerate(tables))
    text = "".join(parts).replace("\n", newline)
    left = toml_text.edited(text, [Edit(path, GONE)], what="`x`")
    assert [f"# on {n}" in left for n in range(len(tables))] == [True] * len(tables)
    assert left.count("\n") == left.count(newline)
    assert len(toml_text.load(left, what="`x`")) == (4 if path[0] == "list" else 3)


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(InvalidDocument):
        load(text, what="`x`")
