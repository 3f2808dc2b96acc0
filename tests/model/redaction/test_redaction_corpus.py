"""Secrets that the rules were not written from are redacted, and what looks like one is kept."""

from __future__ import annotations

import pytest

from gitguard.model.redaction.redactor import Redactor, RuleMatch
from tests.benches.bench_redaction import (
    LEAST_RECALL,
    MOST_FALSE,
    measure_false_positives,
    measure_recall,
)
from tests.support.secret_corpus import (
    Document,
    development,
    held_out,
    is_left,
    samples,
    texts_of,
)
from tests.support.secret_lookalikes import LOOKALIKES, lookalikes
from tests.support.secret_shapes import SHAPES

SEED = 7
Redacted = list[tuple[Document, Document, tuple[RuleMatch, ...]]]


@pytest.fixture(scope="module")
def redacted() -> Redacted:
    """Every document of one seed, what it became, and what was found."""
    redactor = Redactor()
    documents = [sample.document for sample in samples(SHAPES, SEED)]
    documents += [sample.document for sample in lookalikes(SEED)]
    return [(document, *redactor.document(document)) for document in documents]


def test_the_held_out_part_is_large_and_of_other_providers() -> None:
    held = {shape.provider for shape in held_out(SHAPES)}
    assert len(held) >= 60
    assert not held & {shape.provider for shape in development(SHAPES)}
    assert len(LOOKALIKES) >= 40


@pytest.mark.parametrize("seed", [SEED, SEED + 1])
def test_most_secrets_of_unseen_shapes_are_redacted_wholly(seed: int) -> None:
    recall = measure_recall("held out", held_out(SHAPES), [seed])
    assert recall.share >= LEAST_RECALL


@pytest.mark.parametrize("seed", [SEED, SEED + 1])
def test_what_only_looks_like_a_secret_stays(seed: int) -> None:
    assert measure_false_positives([seed]).share <= MOST_FALSE


def test_redacting_twice_changes_nothing(redacted: Redacted) -> None:
    redactor = Redactor()
    for _, once, _ in redacted:
        assert redactor.document(once) == (once, ())


def test_what_changes_is_found_and_what_is_found_changes(redacted: Redacted) -> None:
    for before, after, findings in redacted:
        assert (after != before) == bool(findings)
        assert after != before or after is before
        placeholders = sum(text.count("[REDACTED:") for text in texts_of(after))
        assert bool(placeholders) == bool(findings)


def test_what_is_found_is_the_same_without_redacting(redacted: Redacted) -> None:
    redactor = Redactor()
    for before, _, findings in redacted[::4]:
        assert redactor.find(before) == findings


def test_a_finding_says_nothing_of_the_secret(redacted: Redacted) -> None:
    for sample, (_, _, findings) in zip(samples(SHAPES, SEED), redacted, strict=False):
        for finding in findings:
            assert not is_left(sample.secret, [finding.rule, finding.path])


def test_what_stands_beside_a_secret_stays() -> None:
    redactor = Redactor()
    for sample in samples(SHAPES[::4], SEED):
        document = {"first": "Run the slow tests.", "then": sample.document, "last": "Commit."}
        after = redactor.document(document)[0]
        assert after == document | {"then": redactor.document(sample.document)[0]}


def test_a_redactor_that_saw_many_texts_finds_what_a_new_one_finds(redacted: Redacted) -> None:
    """Words that hold nothing are remembered; none of them hides what another text says."""
    seasoned = Redactor()
    for document, clean, _findings in redacted[::3]:
        for text in texts_of(document):
            seasoned.text(text)
        assert Redactor().document(document)[0] == clean
        assert seasoned.document(document)[0] == clean
