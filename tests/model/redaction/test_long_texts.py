"""What finds secrets fast in a long text finds the same as what finds them in a short one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.redaction import concealed, keyed, views
from gitguard.model.redaction.concealed import joins
from gitguard.model.redaction.keyed import Span, assigned_secrets
from gitguard.model.redaction.names import KEY_WORDS
from gitguard.model.redaction.redactor import OVERLAP, WINDOW, Redactor
from gitguard.model.redaction.tokens import tokens_in

BEFORE = ("", "my_", "API_", "--", "-", "?", "client", "public ", "<", "name: DB_PASSWORD, ", "É")
NAMES = (*KEY_WORDS, "PASSWORD", "Token", "KEY", "passphrase", "\u212aEY", "VALUE", "secretKey")
BEHIND = ("", "_id", "_count", "_prod", "s", "_PASS", "-pwd", ".x", "_1")
OPERATORS = (
    *("=", ":", " = ", " := ", "=>", "->", "==", "': \"", '\\": \\"', " is ", " to ", " for x is "),
    *(" ", " | ", '("', '", "', "=\n", ":\n    ", "= b'", '="""', ': str = "', ">", "]=", "\t=\t"),
    *('=R"', "= F'", ": =", ": = '", "=" + " " * 30, ":" + "\n" * 9, " to  "),
    *(": >-\n  ", ": |\n", ":>\r\n ", ": |2-\\n  ", ":\t> \n+  "),
)
VALUES = (
    *("abc", "abcd", "none", "hunter2", "a1b2c3d4e5", "Zx9Qw3Er7Ty1", "aB3dE5gH7jK9mN1pQ3sT5vW7"),
    *("user-session", "12345678", "${TOKEN}", "changeme", "x y z1", "p@ss!w", "self.token", "f("),
    *("ep8b(^74X23Q", "(x7#k", "a1[b2&c3", "k2(m&n=p", "x#6k(&9zq!w2e", "get(x1)", "&&", "[1]"),
)
ENDS = ("", " ", "\n", '"', "'", "`", '\\"', ";", ")", "&x=1", ",\n", "</token>", "...")


@st.composite
def settings(draw: st.DrawFn) -> str:
    return "".join(
        draw(st.sampled_from(part)) for part in (BEFORE, NAMES, BEHIND, OPERATORS, VALUES, ENDS)
    )


texts = st.lists(st.one_of(settings(), st.text(max_size=9)), max_size=9).map("".join)


def finds(text: str) -> list[Span]:
    low = text.lower() if len(text.lower()) == len(text) else text
    return list(assigned_secrets(text, low, [word for word in KEY_WORDS if word in low]))


@given(texts)
def test_values_behind_key_words_are_the_same(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyed, "_LONG", len(text))
        short = finds(text)
        patch.setattr(keyed, "_LONG", -1)
        assert finds(text) == short


QUOTED = st.text(st.sampled_from("\"'` +\n\r\\.aZ9é_-=,"), max_size=60)


@given(QUOTED)
def test_strings_that_go_on_are_the_same(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concealed, "_LONG", len(text))
        short = joins(text)
        patch.setattr(concealed, "_LONG", -1)
        assert joins(text) == short


LINES = st.lists(
    st.sampled_from(["ghp_", "aB3dE", "word", "sk-", "12ab", "-", "\n", "\r\n", "\\\n", " ", "> "]),
    max_size=30,
).map("".join)


@given(LINES)
def test_lines_that_go_on_begin_with_what_may_begin_a_token(text: str) -> None:
    for begin, end, new in views._line_joins(text):
        head = text[:begin]
        word = head[len(head.rstrip(views._HEAD)) :]
        assert new == ""
        assert "\n" in text[begin:end]
        assert len(word) > 5
        assert not word.isalpha() or not word[1:].islower() or tokens_in(word)


def test_a_part_of_a_long_text_holds_a_secret_where_the_text_does() -> None:
    redactor = Redactor()
    secret = "token = 'aB3dE5gH7jK9mN1pQ3sT5vW7'\n"
    for size in (0, 100, WINDOW - 9, WINDOW + OVERLAP - len(secret)):
        filling = ("request key=abc token=none ok\n" * (size // 30 + 1))[:size]
        assert redactor.holds_secret(filling + secret)
        assert not redactor.holds_secret(filling)
