"""Secrets are taken out of texts, what only looks like one stays, and it never takes long.

No sample is written down here as a scanner would find it: all are made at run time.
"""

from __future__ import annotations

import hashlib
import json
import string
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitguard.model.redaction.names import KEY_WORDS
from gitguard.model.redaction.redactor import (
    Redactor,
    RuleMatch,
)
from gitguard.model.redaction.rules import PHRASES, PLACEHOLDER, SCANS, WORDS
from gitguard.model.redaction.tokens import TOKENS
from tests.support.secret_samples import HEX, SECRET, WORD, some

REDACTOR = Redactor()


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "PGP "])
def test_private_keys_go_whole_escaped_or_cut_off(kind: str) -> None:
    block = " BLOCK" if kind == "PGP " else ""
    begin, end = (f"-----{word} {kind}PRIVATE KEY{block}-----" for word in ("BEGIN", "END"))
    lines = [some(64) for _ in range(8)]
    whole = "\n".join([begin, *lines, end])
    placeholder = PLACEHOLDER.format(rule="private-key")
    assert REDACTOR.text(f"a {whole}\nb") == f"a {placeholder}\nb"
    assert REDACTOR.text("a " + whole.replace("\n", "\\n") + " b") == f"a {placeholder} b"
    cut = REDACTOR.text("\n".join(["a", begin, *lines, "", "and then?"]))
    assert cut.startswith(f"a\n{placeholder}")
    assert cut.endswith("and then?")
    assert not any(line in cut for line in lines)
    twice = REDACTOR.text(f"{whole}\nbetween\n{whole}")
    assert twice == f"{placeholder}\nbetween\n{placeholder}"


def test_certificates_and_public_keys_stay() -> None:
    body = "\n".join(some(64) for _ in range(4))
    for kind in ("CERTIFICATE", "PUBLIC KEY"):
        text = f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"
        assert REDACTOR.text(text) == text


def test_the_private_lines_of_putty_go() -> None:
    lines = f"{some(64)}\n{some(64)}"
    head = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n"
    clean = REDACTOR.text(f"{head}Private-Lines: 2\n{lines}\nPrivate-MAC: {some(64, HEX)}\nrest")
    assert clean == f"{head}[REDACTED:private-key]\nrest"


def test_the_values_of_a_kubernetes_secret_go() -> None:
    manifest = (
        f"apiVersion: v1\nkind: Secret\ndata:\n  a.txt: {SECRET}\n  b: {some(9)}\ntype: Opaque"
    )
    clean = REDACTOR.text(manifest)
    assert clean.count("[REDACTED:") == 2
    assert clean.endswith("type: Opaque")
    document = {"kind": "Secret", "data": {"a.txt": "bG92ZQ=="}, "metadata": {"name": "x"}}
    clean, findings = REDACTOR.document(document)
    assert clean == {**document, "data": {"a.txt": "[REDACTED:secret-name]"}}
    assert findings == (RuleMatch("secret-name", "data.a.txt"),)


def test_findings_say_where_and_never_what() -> None:
    token = "gh" + "p_" + some(36)
    document = {
        "learnings": ["fine", f"used {token}"],
        "tool_outputs": [{"summary": f"password={WORD}", "count": 3}],
        "env": {"name": "DB_PASSWORD", "value": WORD},
        token: None,
    }
    clean, findings = REDACTOR.document(document)
    assert [(f.rule, f.path) for f in findings] == [
        ("github-token", "learnings[1]"),
        ("secret-assignment", "tool_outputs[0].summary"),
        ("secret-name", "env.value"),
        ("github-token", "[REDACTED:github-token]"),
    ]
    assert clean["learnings"] == ["fine", "used [REDACTED:github-token]"]
    assert token not in json.dumps(clean)
    assert WORD not in json.dumps(clean)
    assert REDACTOR.find(document, "x")[0].path == "x.learnings[1]"
    assert REDACTOR.document(clean) == (clean, ())
    assert REDACTOR.document(clean)[0] is clean


def test_keys_that_become_the_same_keep_their_values() -> None:
    first, second = ("gh" + "p_" + some(36) for _ in range(2))
    clean, _findings = REDACTOR.document({first: 1, second: 2})
    assert sorted(clean.values()) == [1, 2]


def test_no_token_is_found_in_the_middle_of_an_image() -> None:
    token = "AK" + "IA" + some(16, string.ascii_uppercase + string.digits)
    image = f"data:image/png;base64,{some(400)}{{}}{token}/{some(400)}"
    for mark in "+/":
        assert REDACTOR.text(image.format(mark)) == image.format(mark)
    for mark in ("//", " ", "=", "\\n", "%3D"):
        assert token not in REDACTOR.text(f"x{mark}{token}")


def test_the_most_specific_rule_gives_the_name() -> None:
    token = "gh" + "p_" + some(36)
    assert REDACTOR.text(f"TOKEN={token}") == "TOKEN=[REDACTED:github-token]"
    assert (
        REDACTOR.text(f"https://{token}@github.com/x")
        == "https://[REDACTED:github-token]@github.com/x"
    )
    assert REDACTOR.text(token, "token") == "[REDACTED:github-token]"


def test_an_allowed_value_stays() -> None:
    token = "gh" + "p_" + some(36)
    allowed = Redactor(allowed=tuple(hashlib.sha256(v.encode()).hexdigest() for v in (token, WORD)))
    for text in (f"see {token}", f"TOKEN={token}", f"password: {WORD}"):
        assert allowed.text(text) == text
    assert allowed.text(WORD, "password") == WORD
    assert allowed.text(f"see {token[:-1]}x") != f"see {token[:-1]}x"


def test_a_long_text_is_searched_to_its_end() -> None:
    token = "gh" + "p_" + some(36)
    for at in (0, 65530, 65536, 131050, 200000):
        text = "word " * (at // 5) + f" {token} " + "word " * 1000
        assert REDACTOR.text(text) == text.replace(token, "[REDACTED:github-token]")


LITERALS = sorted(
    {prefix for _name, prefixes, _rest in TOKENS for prefix in prefixes.split()}
    | {literal for _n, literals, _p, _r in WORDS + PHRASES for literal in literals.split()}
    | {literal for literal, _scan in SCANS}
    | set(KEY_WORDS)
)
PIECES = [*LITERALS, "[REDACTED:", "[REDACTED:jwt]", "[REDACTED:secret-name]", "]", "=", ": ", '"']
PIECES += ["'", "\\n", "\n", " ", "-", "PRIVATE" + " KEY-----", "-----END ", "@", "/", ".", "ghp_"]
pieces = st.sampled_from(PIECES) | st.text(max_size=4) | st.from_regex(r"\A[A-Za-z0-9]{4,44}\Z")
mixes = st.lists(pieces, max_size=14).map("".join)


@settings(max_examples=400)
@given(mixes, st.sampled_from(["", "password", "token", "okta_api", "session_key"]))
@example("token=[REDACTED:jwt]a1b2c3d4e5f6a7b8", "password")
@example("[REDACTED:[REDACTED:jwt]", "")
@example("\u0130 password=" + WORD, "")
def test_redacting_twice_changes_nothing(text: str, name: str) -> None:
    once = REDACTOR.text(text, name)
    assert REDACTOR.text(once, name) == once


@settings(max_examples=100)
@given(
    st.recursive(
        mixes | st.integers() | st.none(),
        lambda leaf: st.lists(leaf, max_size=3) | st.dictionaries(mixes, leaf, max_size=3),
    )
)
@example({"/with/key/access-development-+aba+aba": "+aba+aba000000A0"})
@example({"name": "gh" + "p_" + SECRET, "value": "A1b2C3d4E5f6G7h8"})
def test_a_document_is_redacted_as_its_leaves_are(document: Any) -> None:
    clean, findings = REDACTOR.document(document)
    assert (clean is document) == (not findings)
    assert REDACTOR.document(clean) == (clean, ())
    if isinstance(document, str):
        assert clean == REDACTOR.text(document)


names = st.sampled_from(["name", "value", "kind", "data", "key", "password", "session_key", "note"])
held = st.sampled_from(["Secret", "DB_PASSWORD", "plain words", "A1b2C3d4E5f6G7h8", "x1"])


@settings(max_examples=300)
@given(
    st.recursive(
        held | st.integers(),
        lambda leaf: st.lists(leaf, max_size=3) | st.dictionaries(names, leaf, max_size=3),
    )
)
@example({"password": ["A1b2C3d4E5f6G7h8"]})
@example([{"key": [["A1b2C3d4E5f6G7h8"]]}])
def test_a_document_at_a_glance_holds_what_a_walk_finds_in_it(document: Any) -> None:
    found: list[RuleMatch] = []
    walked = Redactor()._walk(document, "", "", None, found)  # noqa: SLF001
    assert Redactor().document(document) == (walked, tuple(found))


def steps(text: str) -> int:
    """Count the function calls that a redaction takes, a measure no busy machine disturbs."""
    import sys

    count = 0

    def counted(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        Redactor().text(text)
    finally:
        sys.setprofile(before)
    return count


PROBES = [
    "-----BEGIN ",
    "-----BEGIN RSA PRIVATE" + " KEY-----",
    '"',
    "=",
    "key=",
    'key="',
    "://a:b@",
]
PROBES += [
    "eyJ",
    "eyJa.",
    "sk-",
    "[REDACTED:",
    "[REDACTED:jwt]",
    "password: ",
    "a:b@",
    "kind: secret\n",
]
PROBES += ["private-lines:", "token is ", "--password ", "Bearer ", "cookie: a=", "curl -u ", "\\n"]
PROBES += [
    "\x1b",
    "\x1b[31m",
    "%41",
    "\\u0041",
    "\u200b",
    '""',
    "'a' + ",
    "aB3=",
    "\\",
    '"\n"',
    "a1\n",
]


def test_the_work_grows_as_the_text_does() -> None:
    work = {}
    for probe in [*PROBES, *LITERALS]:
        short, long = (probe * (length // len(probe)) for length in (1_000, 4_000))
        REDACTOR.text(long)  # what is made once for all texts is made now
        work[probe] = steps(short), steps(long)
    assert {p: (short, long) for p, (short, long) in work.items() if long >= 5 * short + 1500} == {}


@pytest.mark.parametrize(
    "text",
    [
        "| API_TOKEN | {} |",
        "I set STAGING_API_KEY to {} in the pipeline",
        "the api key is {}",
    ],
)
def test_a_value_beside_its_name_goes_from_tables_and_sentences(text: str) -> None:
    value = some(32)
    clean = REDACTOR.text(text.format(value))
    assert value not in clean
    assert clean.partition("[REDACTED:")[0] == text.partition("{}")[0]


@pytest.mark.parametrize(
    "text",
    [
        "MD5 (token.txt) = {}",
        "Cache restored from key: Linux-node-{}",
        "gpg: using RSA key {}",
        "arn:aws:secretsmanager:eu-west-1:361592192311:secret:prod/db-{}",
        "Access-Control-Allow-Headers: Authorization, X-Api-Key, Content-Type",
    ],
)
def test_what_is_named_like_a_secret_and_is_none_stays(text: str) -> None:
    text = text.format(some(40, HEX))
    assert REDACTOR.text(text) == text


def test_a_checksum_under_a_file_name_stays() -> None:
    document = {"files": {"src/token.py": some(64, HEX), "auth.ts": some(64, HEX)}}
    assert REDACTOR.document(document) == (document, ())
