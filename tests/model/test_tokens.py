"""How many tokens a text takes, and texts that are cut to a number of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.tokens import QUARTERS, beginning, fit, quarters_of, tokens_of

TEXTS = st.text(st.sampled_from("ab .é́жשع日本語가ไ…—😀👍🏽\n"), max_size=400)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("four", 1),
        ("five5", 2),
        ("解析器必须接受旧文件", 10),
        ("古いファイル", 6),
        ("파서는", 3),
        ("Парсер мора", 6),
        ("✅", 1),
        ("😀", 1),
    ],
)
def test_a_token_is_four_characters_of_english_and_one_of_chinese(text: str, tokens: int) -> None:
    assert tokens_of(text) == tokens


@given(TEXTS, TEXTS)
def test_the_parts_of_a_text_take_what_it_takes(before: str, after: str) -> None:
    assert quarters_of(before) + quarters_of(after) == quarters_of(before + after)


@given(TEXTS, st.integers(-5, 900))
def test_a_beginning_is_the_longest_that_fits(text: str, room: int) -> None:
    head = beginning(text, room)
    assert text.startswith(head)
    assert quarters_of(head) <= max(room, 0)
    assert head == text or quarters_of(text[: len(head) + 1]) > room


@given(TEXTS, st.integers(0, 900))
def test_a_text_in_any_script_is_cut_to_what_it_may_take(text: str, room: int) -> None:
    short = fit(text, room)
    assert quarters_of(short) <= room
    assert short == text or "…" in short or room < QUARTERS
