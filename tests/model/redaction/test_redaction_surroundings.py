"""A secret is found however it is written: the same secrets in every surrounding."""

from __future__ import annotations

import json
from random import Random
from string import ascii_letters, ascii_uppercase, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.guard import Guard
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import unseen_in, visible
from tests.conftest import Git
from tests.support.secret_corpus import texts_of
from tests.support.secret_surroundings import (
    LEAST_RECALL,
    SURROUNDINGS,
    Surrounding,
    recall_in,
)

TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xYz"


@pytest.mark.parametrize("surrounding", SURROUNDINGS, ids=lambda surrounding: surrounding.name)
def test_most_secrets_are_found_in_every_surrounding(surrounding: Surrounding) -> None:
    assert recall_in(surrounding, range(1, 3))[0] >= LEAST_RECALL


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


def unseen_characters() -> st.SearchStrategy[str]:
    """Draw from all that Unicode has; made for the test, because each worker collects this file."""
    return st.sampled_from(sorted(unseen_in("".join(map(chr, range(0x11_0000))))))


@given(
    st.lists(st.deferred(unseen_characters), min_size=1, max_size=4).map("".join),
    st.integers(1, 39),
)
def test_no_output_puts_a_token_together_that_characters_it_drops_had_parted(
    between: str, at: int
) -> None:
    clean = Redactor().text(f"use {TOKEN[:at]}{between}{TOKEN[at:]} now")
    assert TOKEN[10:20] not in visible(clean)


@pytest.mark.parametrize("between", ["\r", "\ue000", "\u0378", "\u0600"])
def test_what_is_committed_holds_no_token_that_an_unseen_character_had_parted(
    between: str, begun: Guard, git: Git
) -> None:
    parted = TOKEN[:16] + between + TOKEN[16:]
    begun.note({"learnings": [f"use {parted}"], "next_action": f"use {parted}"})
    begun.checkpoint(f"with {parted}")
    for commit in git("rev-list", "--all").split():
        files = [git("show", f"{commit}:{name}", check=False) for name in ("summary.md",)]
        assert TOKEN not in "\n".join([git("log", "-1", "--format=%B", commit), *files])


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


def random_text(alphabet: str, length: int, seed: int) -> str:
    return "".join(Random(seed).choices(alphabet, k=length))


@pytest.mark.parametrize("before", ["backup-", "x_", "v1", "old.", "my-"])
@pytest.mark.parametrize(
    "prefix", ["ghp_", "glpat-", "npm_", "xoxb-", "sk-ant-", "hf_", "sk_live_"]
)
def test_a_token_within_a_longer_word_is_found(before: str, prefix: str) -> None:
    for seed in range(20):
        rest = random_text(ascii_letters + digits, 36, seed)
        assert rest[4:] not in Redactor().text(f"use {before}{prefix}{rest} now")


@pytest.mark.parametrize("before", ["backup-", "x_", "v1", "\u201c"])
@pytest.mark.parametrize(
    "token",
    [
        "AIzaSyaB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3",
        "AKIAQ3ZX7YB2WV5T6RNM",
        "SG.aB3dE5fG7hI9jK1lM3nO5p.aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xYzaB3dE5f",
        "dop_v1_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    ],
)
def test_a_token_whose_prefix_has_no_mark_of_its_own_is_found_within_a_word(
    before: str, token: str
) -> None:
    assert token[8:] not in Redactor().text(f"use {before}{token} now")


@pytest.mark.parametrize("text", ["surveyJsLibraryName2.renderSomething1", "MSG.a_name.other_2"])
def test_names_that_hold_a_prefix_stay(text: str) -> None:
    assert Redactor().text(f"use {text} now") == f"use {text} now"


def test_a_quoted_value_that_reads_like_a_call_is_found() -> None:
    missed = 0
    for seed in range(120):
        value = random_text(ascii_letters + digits, 20, seed)
        at = Random(seed).randrange(2, 12)
        value = f"{value[:at]}({value[at:]})"
        missed += value in Redactor().text(f'api_key: "{value}"')
    assert missed <= 120 * (1 - LEAST_RECALL)
    assert Redactor().text('token = "getToken(userId)"') == 'token = "getToken(userId)"'


@pytest.mark.parametrize("between", ["` + `", "' . '", "'.'", "\u2028", '" . "'])
def test_a_token_that_another_language_puts_together_is_found(between: str) -> None:
    quote = between[0] if between[0] in "`'\"" else ""
    text = f"t = {quote}{TOKEN[:20]}{between}{TOKEN[20:]}{quote}"
    clean = Redactor().text(text)
    assert TOKEN[20:] not in clean
    assert TOKEN[:20] not in clean


def test_an_access_key_of_capitals_alone_is_found() -> None:
    for seed in range(50):
        key = "AKIA" + random_text(ascii_uppercase, 16, seed)
        assert key not in Redactor().text(f"id {key} here")


@pytest.mark.parametrize("name", ["password", "api_key", "secret", "token", "client_secret"])
def test_a_quoted_value_with_parentheses_is_found(name: str) -> None:
    missed = 0
    for seed in range(60):
        value = random_text(ascii_letters + digits, 18, seed)
        value = f"{value[:7]}({value[7:12]}){value[12:]}"
        missed += value in Redactor().text(f'{name} = "{value}"')
    assert missed <= 60 * (1 - LEAST_RECALL)


@pytest.mark.parametrize(
    "text",
    [
        "gpg --keyserver hkps://keys.openpgp.org --recv-keys "
        "DD792F5973C6DE52C432CBDAC77ABFA00DDBF2B7",
        'SECRET_KEY="YOURSECRETKEYGOESHERE"',
        "-H 'Authorization: Bearer YOUR_TOKEN'",
        "/** If true, adds Authorization: Bearer header with the resolved API key. */",
        'export OLLAMA_API_KEY="ollama-local"',
        '"verdict": "pass" | "fail" | "needs_review",',
        '"doc_token": "ABC123def",',
        "[![codecov](https://codecov.io/gh/x/y/graph/badge.svg?token=yZL6LtXkOA)](https://x)",
        "- password: `OPENCLAW_GATEWAY_PASSWORD` -> `gateway.auth.password`",
        '{ "user": "alice", "password": "[***]" }',
        "Defaults you pass to `root()` apply to every call below",
        "- `--url` / `--token` / `--password`: Gateway connection overrides.",
        "- `--password <password>`\uff1aGateway password",
    ],
)
def test_what_manuals_write_in_the_place_of_a_secret_stays(text: str) -> None:
    assert Redactor().text(text) == text
