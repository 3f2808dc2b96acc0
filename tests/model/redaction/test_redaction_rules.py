"""Every rule finds what it is for, and nothing that only resembles it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.redaction import names
from gitguard.model.redaction.names import NONE, PASSWORD, STRONG, WEAK, strength
from gitguard.model.redaction.redactor import (
    Redactor,
)
from gitguard.model.redaction.rules import PHRASES, PLACEHOLDER, WORDS
from gitguard.model.redaction.tokens import TOKENS
from tests.support.secret_samples import HEX, SECRET, WORD, a_match, parsed, repetitions, some

REDACTOR = Redactor()


PREFIXED = [(prefix, rest) for _, prefixes, rest in TOKENS for prefix in prefixes.split()]


def test_a_prefixed_token_goes_and_what_stands_around_it_stays() -> None:
    for prefix, rest in PREFIXED:
        for _ in range(500):
            secret = prefix + a_match(parsed(rest)).rstrip(".,:;")
            if re.fullmatch(rest, secret[len(prefix) :]) and len(set(secret[len(prefix) :])) > 7:
                break
        for before, after in (("", ""), ("see ", " there"), ('{"x": "', '"}'), ("\\n", "\n")):
            clean = REDACTOR.text(before + secret + after)
            assert secret not in clean, "the whole token goes"
            assert clean.startswith(before + "[REDACTED:"), prefix
            assert clean.endswith("]" + after), prefix


def test_a_prefix_alone_or_with_a_placeholder_stays() -> None:
    for prefix, _ in PREFIXED:
        for text in (prefix, f"{prefix}{'x' * 39}", f"the {prefix} prefix"):
            assert REDACTOR.text(text) == text


@pytest.mark.parametrize(("name", "literals", "pattern", "random"), WORDS + PHRASES)
def test_a_rule_finds_what_its_pattern_says(
    name: str, literals: str, pattern: str, random: bool
) -> None:
    for _ in range(300):
        text = a_match(parsed(pattern))
        if pattern.startswith("(?<="):
            text = "12345678" + text
        found = re.search(pattern, text)
        if found and REDACTOR.text(text) != text:
            break
    assert found
    secret = found["secret"] if "secret" in found.re.groupindex else found[0]
    clean = REDACTOR.text(f"say {text}")
    assert secret not in clean
    assert clean.startswith("say ")


def test_no_pattern_repeats_a_repetition() -> None:
    patterns = {rest for _, _, rest in TOKENS} | {rule[2] for rule in WORDS + PHRASES}
    assert {pattern for pattern in patterns if any(repetitions(parsed(pattern)))} == set()


ASSIGNED = [
    f"CIRCLE_TOKEN={SECRET}",
    f"export DD_APP_KEY={some(40, HEX)}",
    f'okta_api = "00{some(40)}"',
    f"x-api-key: {SECRET}",
    f'apiKey:"{SECRET}"',
    f"\"client-secret\" : '{SECRET}'",
    f"heroku.key = {some(8, HEX)}-{some(4, HEX)}-4{some(3, HEX)}-a{some(3, HEX)}-{some(12, HEX)}",
    f"the token is {SECRET}, he said",
    f"password = {WORD}",
    f"password: {WORD}",
    f'{{"password": "{WORD}"}}',
    f'{{\\"password\\": \\"{WORD}\\"}}',
    f'"password" => "{WORD}"',
    f"$env:API_KEY = '{SECRET}'",
    f'os.environ["API_KEY"] = "{SECRET}"',
    f'setToken("{SECRET}")',
    f'client.login("bob", password="{WORD}")',
    f'password: str = "{WORD}"',
    f'const token: string = "{SECRET}";',
    f"<password>{WORD}</password>",
    f'<add key="ApiKey" value="{SECRET}"/>',
    f"- name: DB_PASSWORD\n  value: {WORD}",
    f"tool --password {WORD} --quiet",
    f"tool --api-token={SECRET}",
    f"ENV GITHUB_TOKEN {SECRET}",
    f"//registry.example/:_authToken={SECRET}",
    f"https://api.example/x?key={SECRET}&y=1",
    f"https://api.example/x?access_token={SECRET}",
    f"Server=db;User Id=sa;Password={WORD}$x;Encrypt=yes",
    f"AccountName=a;AccountKey={some(86)}==;EndpointSuffix=x",
    f"Secret access key: {some(40)}",
    f"if token == '{SECRET}':",
    f"postgres://bob:{WORD}@db.example/x",
    f"mongodb+srv://bob:p%40{WORD}@db.example/x",
    f"redis://:{WORD}@cache:6379/0",
    f"https://{SECRET}@git.example/x.git",
    f"amqp://bob:{WORD}/x@mq.example:5672",
    f"Authorization: Bearer {SECRET}",
    f"Authorization: Basic {some(24)}==",
    f"Authorization: token {SECRET}",
    f"Cookie: session={SECRET}; theme=dark",
    f"curl -u bob:{WORD} https://x.example",
    f"mysql -u root -p{WORD} shop",
    f"machine x.example login bob password {WORD}",
    f"https://s.example/b?sig={SECRET}%3D&se=2027",
    f"https://hooks.slack.com/services/T0{some(8)}/B0{some(8)}/{some(24)}",
    f"MAILGUN={some(32, HEX)}-us12",
]


@pytest.mark.parametrize("text", ASSIGNED, ids=lambda text: re.sub(r"\W+", "-", text)[:24])
def test_a_value_with_a_secret_like_name_goes(text: str) -> None:
    clean = REDACTOR.text(text)
    assert clean != text
    secrets = [WORD, SECRET, *re.findall(r"[A-Za-z0-9]{20,}", text)]
    assert not any(secret in clean for secret in secrets)
    assert clean[:3] == text[:3]


KEPT = [
    "token = get_token()",
    "password = None",
    'api_key = os.environ["API_KEY"]',
    "TOKEN=$TOKEN",
    "API_KEY=${API_KEY}",
    "API_KEY=<your-token>",
    "secret: xxxxxxxxxxxxxxxx",
    "password: changeme",
    "token: process.env.TOKEN",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "def login(token: str, password: str) -> None:",
    "password: string;",
    f"commit {some(40, HEX)}",
    f"sha256: {some(64, HEX)}",
    f'"integrity": "sha512-{some(86)}=="',
    f"id: {some(8, HEX)}-{some(4, HEX)}-{some(4, HEX)}-{some(4, HEX)}-{some(12, HEX)}",
    f"session_key: {some(32, HEX)}",
    f"session key = {some(32, HEX)}",
    f'public_key = "{some(60)}"',
    f"primary_key = {some(32, HEX)}",
    f"key_id = {some(32, HEX)}",
    f"cache_key: {some(32, HEX)}",
    f"next_token: {some(32, HEX)}",
    f"token_count: {some(20, HEX)}",
    "max_tokens = 4096",
    "total_tokens: 120000",
    f"author = {some(32, HEX)}",
    f"password_reset_url = https://x.example/{some(32, HEX)}",
    "password_file: /run/secrets/db_password",
    'api_key_header_name = "X-Api-Key-1234"',
    "the key: it opens every door",
    "a secret: nobody knows it",
    "password is required",
    "token = tokens[i1]",
    "secret = self.secret1",
    "api_key=api_key, password=password",
    "secretName: my-tls-secret-2024",
    "ssh://git@github.com/org/repo",
    "git@github.com:org/repo.git",
    "https://example.com:8080/a@b",
    "postgres://user:password@localhost/db",
    "PWD=/home/someone",
    f"data:image/png;base64,{some(200)}",
    "pass 'filename2' to open",
    f"host_session: {some(32, HEX)}",
]


@pytest.mark.parametrize("text", KEPT)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert REDACTOR.text(text) == text


SECRET_NAMES = ["password", "secret", "token", "api_key", "apiKey", "X-Api-Key", "client_secret"]
SECRET_NAMES += ["db_pass", "GITHUB_TOKEN", "accessToken", "stripeApiKey", "AWS_SECRET_ACCESS_KEY"]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_leaf_with_a_secret_name_goes_whatever_it_says(name: str) -> None:
    assert strength(name) in (STRONG, PASSWORD)
    for value in ("correct horse", WORD, some(40), "s3cr3t!"):
        assert REDACTOR.text(value, name) == PLACEHOLDER.format(rule="secret-name")
    for value in ("${TOKEN}", "<token>", "None", "string", "", "xxxxxxxx", "$TOKEN", "true"):
        assert REDACTOR.text(value, name) == value


OWN_NAMES = ["session_key", "token_usage", "journal_id", "checkpoint_id", "session_id", "sha256"]
OWN_NAMES += ["commit", "head", "task_id", "updated_at", "host_session", "session", "key_id"]
OWN_NAMES += ["token_count", "max_tokens", "public_key", "primary_key", "author", "passed", "keys"]


@pytest.mark.parametrize("name", OWN_NAMES)
def test_no_leaf_of_ours_goes_for_its_name(name: str) -> None:
    assert strength(name) < STRONG
    for value in (some(40, HEX), some(64, HEX), "2026-11-22T04:00:00Z", "main"):
        assert REDACTOR.text(value, name) == value


def test_the_name_of_a_file_names_no_secret() -> None:
    assert strength("api_key.py") == NONE


def test_a_weak_name_takes_what_looks_random() -> None:
    assert strength("okta_api") == WEAK
    assert REDACTOR.text(some(40), "okta_api") != ""
    assert REDACTOR.text("https://okta.example/api/v1", "okta_api").startswith("https")


def test_every_name_that_announces_a_secret_holds_a_part_that_is_looked_for() -> None:
    sure = {*names._PASSWORDS, *names._SECRETS, *names._WEAK, *names._ENDINGS, "key", "token"}
    assert {
        name for name in sure if not any(part in name for part in names.PARTS_OF_NAMES)
    } == set()


_PARTS = [
    f"{prefix}{a_match(parsed(rest))}"
    for _n, prefixes, rest in TOKENS[::7]
    for prefix in [prefixes.split()[0]]
]
_PARTS += [
    "python3 hello.py",
    "2026-11-22T04:00:00Z",
    "toolu_01A09q90qw90lq",
    "src/a.py",
    "key",
    "password",
]
_PARTS += [
    some(40),
    some(40, HEX),
    "bearer",
    "value",
    "https://user:",
    "@host/x",
    "-u",
    "curl",
    "x",
]


@given(
    st.lists(st.sampled_from(_PARTS), max_size=6), st.sampled_from([" ", "", "=", ": ", "\n", "'"])
)
def test_what_is_taken_for_plain_holds_nothing_that_the_whole_search_would_find(
    parts: list[str], joint: str
) -> None:
    text = joint.join(parts)
    assert REDACTOR.text(text) == Redactor()._leaf(text, "", None, [])
    searched = Redactor()
    whole = searched._walk({"a": text, "b": [text]}, "", "", None, [])
    assert REDACTOR.document({"a": text, "b": [text]})[0] == whole
