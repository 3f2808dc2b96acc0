"""A secret is found however it is written: the same secrets in every surrounding."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.guard import Guard
from gitguard.model.redaction import Redactor

from .conftest import Git
from .secret_corpus import Document, Sample, is_left, samples, texts_of
from .secret_shapes import SHAPES
from .secret_surroundings import SURROUNDINGS, Surrounding

LEAST_RECALL = 0.95
TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xYz"


def changed(document: Document, change: Callable[[str], str]) -> Document:
    """Return a document with each of its values changed."""
    if isinstance(document, str):
        return change(document)
    if isinstance(document, dict):
        return {key: changed(value, change) for key, value in document.items()}
    if isinstance(document, (list, tuple)):
        return [changed(item, change) for item in document]
    return document


def in_one_line(seeds: range) -> Iterator[Sample]:
    """Make one secret of each shape; private keys, which have lines of their own, are left out."""
    for seed in seeds:
        for number, sample in enumerate(samples(SHAPES, seed)):
            if number % 5 == 0 and "\n" not in sample.secret.text:
                yield sample


def is_missed(redactor: Redactor, surrounding: Surrounding, sample: Sample) -> bool:
    """Say whether a reader finds anything of a secret after a text was redacted."""
    secret = sample.secret.text
    document = changed(
        sample.document,
        lambda text: surrounding.conceal(text, secret) if secret in text else text,
    )
    clean = "\n".join(texts_of(redactor.document(document)[0]))
    return is_left(sample.secret, surrounding.reveal(clean))


@pytest.mark.parametrize("surrounding", SURROUNDINGS, ids=lambda surrounding: surrounding.name)
def test_most_secrets_are_found_in_every_surrounding(surrounding: Surrounding) -> None:
    redactor = Redactor()
    missed = [is_missed(redactor, surrounding, sample) for sample in in_one_line(range(1, 3))]
    assert 1 - sum(missed) / len(missed) >= LEAST_RECALL


@pytest.mark.parametrize("surrounding", SURROUNDINGS, ids=lambda surrounding: surrounding.name)
def test_what_is_written_around_a_secret_puts_none_of_it_into_git(
    surrounding: Surrounding, begun: Guard, git: Git
) -> None:
    begun.note({"learnings": [surrounding.conceal(f'token = "{TOKEN}"', TOKEN)]})
    begun.checkpoint("with a secret")
    for commit in git("rev-list", "--all").split():
        for name in ("state.json", "summary.md", "snapshot.yaml"):
            text = git("show", f"{commit}:{name}", check=False)
            read = [*texts_of(json.loads(text))] if text and name == "state.json" else [text]
            assert TOKEN[10:20] not in surrounding.reveal("\n".join(read))


concealing = st.sampled_from(
    [
        "\x1b[31m",
        "\u200b",
        "\xad",
        "\\u0041",
        "%41",
        '" + "',
        "\n",
        "\\\n",
        "\uff21",
        "\\",
        "%",
        "\x00",
    ]
)
pieces = st.lists(st.one_of(concealing, st.text(max_size=12), st.just(TOKEN)), max_size=12)


@given(pieces)
def test_redacting_what_is_concealed_twice_changes_nothing(parts: list[str]) -> None:
    once = Redactor().text("".join(parts))
    assert Redactor().text(once) == once


@given(st.lists(st.one_of(concealing, st.text("abc XYZ_-.,'\"\n", max_size=20)), max_size=20))
def test_a_text_without_a_secret_stays_as_it_was_written(parts: list[str]) -> None:
    text = "".join(parts)
    assert Redactor().text(text) == text


def test_a_private_key_is_found_behind_a_concealed_header() -> None:
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7" for _ in range(24))
    key = f"-----BEGIN PRIV\u200bATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    assert "MIIEvQ" not in Redactor().text(f"see\n{key}\nthere")
