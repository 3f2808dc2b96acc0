"""Sentences, terms and shapes are told by signs and scripts, in any language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.state.sentences import (
    READ,
    Shape,
    sentences,
    shape_of,
    terms_of,
    without_sentences,
)

texts = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from(' .!?。！？؟।\n`"“”「」/_-:1aA漢アのก#>')),
    max_size=400,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Done. Next one.", ["Done.", "Next one."]),
        ("完成了。接下来改代码！好吗？是的", ["完成了。", "接下来改代码！", "好吗？", "是的"]),
        ("完成了!接下来", ["完成了!", "接下来"]),
        ("直しました。次は試験です。", ["直しました。", "次は試験です。"]),
        ("هل هذا صحيح؟ نعم", ["هل هذا صحيح؟", "نعم"]),
        ("ٹھیک ہے۔ آگے", ["ٹھیک ہے۔", "آگے"]),
        ("यह ठीक है। अगला", ["यह ठीक है।", "अगला"]),
        ("Ասա։ Հետո", ["Ասա։", "Հետո"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("他说「好。」然后走了", ["他说「好。」", "然后走了"]),
    ],
)
def test_sentences_end_at_the_marks_of_any_script(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Port 3.5 to v1.2.3 in src/a.b/c.py of example.org/x?y=1",
        "Read the pages, e.g. this one",
        "Das gilt bzw. galt für Nr. 5 und z. B. die Liste",
        "Это стр. 12 и т. е. конец",
        "Pogledaj npr. ovu tabelu",
        "３．５秒かかる",
        "見て a.py と foo.bar",
        "Wait... what",
    ],
)
def test_no_sentence_ends_within_a_number_a_path_or_an_abbreviation(text: str) -> None:
    assert sentences(text) == [text]


@given(texts)
def test_sentences_lose_no_letter_and_no_digit(text: str) -> None:
    def alnum(text: str) -> str:
        return "".join(c for c in text if c.isalnum())

    whole = sentences(text)
    assert whole
    assert all("\n" not in sentence for sentence in whole)
    if "```" not in text and "[" not in text:
        shown = alnum("".join(whole))
        assert len(shown) <= len(alnum(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix `retry loop` in src/x.py", {"fix", "retry", "loop", "retry loop", "src/x.py"}),
        ("getUser of v2.1, 17 times", {"getuser", "v2.1", "17", "times"}),
        ("the login-page", {"the", "login-page", "login", "page"}),
        ("数据库设计", {"数据", "据库", "库设", "设计"}),
        ("データベースの設計を変更して", {"データベース", "設計", "変更"}),
        ("Проверь СХЕМУ", {"проверь", "схему"}),
        ("हिन्दी में", {"हिन्दी", "में"}),
        ("파일을 고쳐", {"파일을", "고쳐"}),
        ("用parser.py解析", {"parser.py", "解析"}),
        ("👍 :-) ok", set()),
    ],
)  # fmt: skip
def test_terms_are_names_numbers_words_and_pairs_of_characters(
    text: str, expected: set[str]
) -> None:
    assert terms_of(text) == expected


@given(texts)
def test_the_terms_of_a_text_are_those_of_its_lines(text: str) -> None:
    lines = text.split("\n")
    assert terms_of("\n".join(lines)) >= frozenset().union(*map(terms_of, lines[:1]))
    assert all(term == term.casefold() and term for term in terms_of(text))


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("Look at src/app", {"has_path"}),
        ("Look at main.py", {"has_path"}),
        ("Rename get_user", {"has_identifier"}),
        ("Use getUser", {"has_identifier"}),
        ("Run it with --force", {"has_identifier"}),
        ("Take 17", {"has_number"}),
        ("取 ３ 个", {"has_number"}),
        ("Run `make`", {"has_code", "has_quotation"}),
        ("Call it “the reader”", {"has_quotation"}),
        ("Назови «чтение»", {"has_quotation"}),
        ("- First", {"is_list_item"}),
        ("Is it so?", {"is_question"}),
        ("这样可以吗？", {"is_question"}),
        ("هل هذا صحيح؟", {"is_question"}),
        ("Thanks, that's great — go on!", set()),
        ("谢谢，继续", set()),
    ],
)
def test_a_shape_tells_what_a_text_holds(text: str, marks: set[str]) -> None:
    shape = shape_of(text)
    assert {name for name in Shape.field_names if getattr(shape, name)} == marks


@given(texts)
def test_any_text_has_terms_and_a_shape(text: str) -> None:
    assert shape_of(text) == shape_of(text[:READ])
    terms_of(text)


@pytest.mark.parametrize(
    "part", [".", "!", "。", "．", '"', "“", "「a」", "`", "a/", "漢", "ア", "-", ". ", "x(", "a."]
)
def test_what_is_looked_at_is_bounded(part: str) -> None:
    text = part * READ
    assert sum(map(len, sentences(text))) <= READ
    assert sum(map(len, terms_of(text))) <= 3 * READ


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Port: 1. the reader 2. the writer", ["Port:", "1) the reader.", "2) the writer."]),
        ("1) Port it. 2) Test it.", ["1) Port it.", "2) Test it."]),
        ("It is not clear. 5. What is left?", ["It is not clear.", "5. What is left?"]),
        ("It took 3 of 4. Then 1 of 2. 3 failed.", ["It took 3 of 4.", "Then 1 of 2. 3 failed."]),
    ],
)  # fmt: skip
def test_a_number_in_a_line_stands_with_the_item_that_it_begins(
    text: str, expected: list[str]
) -> None:
    assert sentences(text) == expected


def test_the_negation_of_a_shell_ends_no_sentence() -> None:
    text = "It runs if ! command -v entire; then it stops! Then a && ! b."
    assert sentences(text) == ["It runs if ! command -v entire; then it stops!", "Then a && ! b."]


def test_a_text_of_which_nothing_is_left_out_stays_as_it_is() -> None:
    for text in ("Please implement this plan in the parser:", "Mend:\n\n- the parser"):
        assert without_sentences(text, lambda _: False, "…") == text
    mend = "Mend these:\n\n- the parser of rows"
    assert without_sentences(mend, lambda s: "parser" in s, "…") == ""


def test_a_box_that_is_not_ticked_stays_with_its_item() -> None:
    listed = "- [ ] The page of rows.py is shown\n- [x] All tests of rows.py pass"
    open_item, done = sentences(listed)
    assert open_item == "[ ] The page of rows.py is shown."
    assert done == "All tests of rows.py pass."
