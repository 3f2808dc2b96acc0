"""The second engine: it adds to the rules, for the user who asks for it, and never by itself."""

from __future__ import annotations

import sys
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard.errors import InvalidConfig
from gitguard.guard import Guard
from gitguard.model.config.redaction import RedactionConfig, redactor_of
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.redaction.second_engine import SecondEngine
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Git, OpenGuard
from tests.support.secret_corpus import Document, held_out, is_left, samples
from tests.support.secret_shapes import SHAPES

RULES, BOTH = Redactor(), redactor_of(RedactionConfig(engine="redact-secret"))
ENGINE = "redaction:\n  engine: redact-secret\n"


@cache
def missed_by_the_rules() -> list[Document]:
    """Return two documents whose secrets the engine alone finds."""
    missed = (
        sample
        for sample in samples(held_out(SHAPES), 1)
        if is_left(sample.secret, RULES.document(sample.document)[0])
        and not is_left(sample.secret, BOTH.document(sample.document)[0])
    )
    return [sample.document for sample in islice(missed, 2)]


def test_it_finds_what_the_rules_miss_and_the_rules_still_count() -> None:
    assert missed_by_the_rules()
    for sample in islice(samples(held_out(SHAPES), 2), 200):
        if not is_left(sample.secret, RULES.document(sample.document)[0]):
            assert not is_left(sample.secret, BOTH.document(sample.document)[0])


def test_what_it_finds_is_named_and_where_it_stood() -> None:
    document = missed_by_the_rules()[0]
    clean, findings = BOTH.document(document)
    assert clean != document
    assert all(finding.rule for finding in findings)
    assert BOTH.document(clean) == (clean, ())


texts = st.lists(
    st.deferred(lambda: st.sampled_from([str(document) for document in missed_by_the_rules()]))
    | st.text(max_size=40)
    | st.sampled_from(["[REDACTED:jwt]", "[REDACTED:", "\ud800", "\U0001f600", "password=", "\n"]),
    max_size=6,
).map("".join)


@settings(max_examples=200)
@given(texts)
def test_redacting_twice_with_it_changes_nothing(text: str) -> None:
    once = BOTH.text(text)
    assert BOTH.text(once) == once


def test_texts_searched_without_it_are_searched_anew() -> None:
    assert RULES.rules_id != BOTH.rules_id


def write_config(places: UserDirs, text: str) -> None:
    path = Path(places.config_home) / "config.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_user_who_asks_for_it_gets_it(places: UserDirs, git: Git, open_guard: OpenGuard) -> None:
    write_config(places, ENGINE)
    guard = open_guard()
    assert isinstance(guard.workspace.redactor._engine, SecondEngine)  # noqa: SLF001


def test_a_repository_cannot_ask_for_it(git: Git, guard: Guard, open_guard: OpenGuard) -> None:
    guard.ensure()
    (git.root / ".gitguard" / "config.yaml").write_text(ENGINE, encoding="utf-8")
    assert open_guard().workspace.redactor._engine is None  # noqa: SLF001


def test_where_it_is_not_installed_nothing_is_written_and_the_way_out_is_named(
    places: UserDirs, git: Git, open_guard: OpenGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(places, ENGINE)
    monkeypatch.setitem(sys.modules, "redact_secret", None)
    with pytest.raises(InvalidConfig, match="redact-secret") as raised:
        open_guard()
    assert "pip install" in raised.value.hint
    assert not (git.root / ".gitguard").exists()
