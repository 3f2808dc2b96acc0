"""A rule of a repository's own is applied, and cannot make us wait."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard.model.redaction.patterns import check_pattern, custom_rule, is_rule_name
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.redaction.rules import PHRASES, WORDS
from gitguard.model.redaction.tokens import TOKENS
from tests.support.secret_samples import parsed, repetitions, some

OWN_RULE = custom_rule("acme-key", r"\bacme_(?P<secret>[a-z0-9]{20,64})")


def test_a_custom_rule_is_applied_and_wins() -> None:
    redactor = Redactor((OWN_RULE,))
    secret = some(24, string.ascii_lowercase + string.digits)
    assert redactor.text(f"token=acme_{secret}") == "token=[REDACTED:acme-key]"
    assert redactor.text(f"see acme_{secret}.") == "see acme_[REDACTED:acme-key]."
    assert OWN_RULE.literals == ("acme_",)


@pytest.mark.parametrize(
    "pattern",
    [
        "ACME-[A-Z0-9]{20}",
        r"\bacme\.[\w-]{8,512}",
        "(?P<secret>tok_[0-9a-f]{32})",
        r"x-\d{4}abc[^\s\"]{1,200}",
    ],
)
def test_a_harmless_pattern_is_allowed(pattern: str) -> None:
    assert check_pattern(pattern) == ""
    assert custom_rule("x", pattern).literals[0] in pattern.replace("\\.", ".").lower()


@pytest.mark.parametrize(
    "pattern",
    [
        "", "ab", "(a+)+b", "acme.*", "acme[a-z]+", "acme[a-z]*", "acme|other", "(acme)",
        "(?:acme)", "(?=acme)", "(?<!x)acme", r"acme\1", "(?i)acme", "acme[a-z]{1,513}",
        "acme[a-z]{0,99}[0-9]{1,9}", "acme[a-z]{3,}", "acme[a-z", "acme)", "(?P<secret>acme",
        "(?P<secret>acme){2}", "(?P<key>acme)", "[a-z]{1,500}acme[a-z]{100}", "acme" * 80, "^acme",
        "acme$", "acme.", r"acme\Z", r"acme\b{3}", "acme[a-z]{2,5}?", "acme[a-z]{2}{3}",
        "acme[z-a]", "acme{,5}", "acme[[a]", "[abc]{20}", "acme[a-z]{9999999999}", "acme\\",
    ],
)  # fmt: skip
def test_a_pattern_that_could_take_long_is_refused(pattern: str) -> None:
    assert check_pattern(pattern)


@settings(max_examples=500)
@given(st.text(alphabet="ab[](){}|*+?.\\^$,0123456789-<>=!P:dwsb", max_size=24))
def test_an_allowed_pattern_compiles_and_repeats_nothing_twice(pattern: str) -> None:
    if check_pattern(pattern) == "":
        assert sum(repetitions(parsed(pattern))) == 0
        redactor = Redactor((custom_rule("x", pattern),))
        once = redactor.text(pattern * 3)
        assert redactor.text(once) == once


def test_rule_names_fit_the_placeholder() -> None:
    names = {row[0] for row in (*TOKENS, *WORDS, *PHRASES)}
    assert all(is_rule_name(str(name)) for name in names)
    assert not any(is_rule_name(name) for name in ("", "A", "a b", "a]", "x" * 65))
