"""Kinds of secrets that rules had missed are found, and what had been taken for one stays."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from gitguard.model.redaction.redactor import Redactor
from gitguard.model.redaction.tokens import TOKENS
from tests.benches.bench_redaction import findings_in
from tests.support.secret_kinds import KINDS, Kind
from tests.support.secret_samples import HEX, a_match, parsed, some
from tests.support.secret_surroundings import (
    GLUED,
    LEAST_RECALL,
    SURROUNDINGS,
    Surrounding,
    recall_in,
    recall_of,
)

REDACTOR = Redactor()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_secrets_of_each_kind_are_found(kind: Kind) -> None:
    assert recall_of(kind, SURROUNDINGS[0], range(1, 4))[0] >= LEAST_RECALL


@pytest.mark.parametrize("surrounding", SURROUNDINGS, ids=lambda surrounding: surrounding.name)
def test_secrets_of_these_kinds_are_found_in_every_surrounding(surrounding: Surrounding) -> None:
    kinds = [kind for kind in KINDS if surrounding.name not in kind.out_of_reach]
    shares = [recall_of(kind, surrounding, [1]) for kind in kinds]
    found = sum(share * count for share, count in shares)
    assert found / sum(count for _share, count in shares) >= LEAST_RECALL


@pytest.mark.parametrize("surrounding", GLUED, ids=lambda surrounding: surrounding.name)
def test_a_token_is_found_behind_a_mark_in_a_word(surrounding: Surrounding) -> None:
    assert recall_in(surrounding, [1, 2])[0] >= LEAST_RECALL


@pytest.mark.parametrize("mark", "-._")
def test_nearly_every_prefix_that_ends_in_a_mark_counts_behind_a_mark_in_a_word(mark: str) -> None:
    missed = []
    prefixes = [(prefix, rest) for _n, listed, rest in TOKENS for prefix in listed.split()]
    marked = [(p, rest) for p, rest in prefixes if p[-1] in "-._" and len(p) > 3]
    for prefix, rest in marked:
        token = prefix + a_match(parsed(rest)).rstrip(".,:;")
        if token[len(prefix) :] in REDACTOR.text(f"see backup{mark}{token} now"):
            missed.append(prefix)
    assert len(missed) < 0.2 * len(marked), missed  # words such as `key-` and `test_`


MISSED = [
    "DB_PASSWORD={0}(^{1}",
    "DB_PASSWORD={0}[{1}",
    "API_PASSWORD=({0}&{1}",
    "password: {0}&x={1}",
    "redis://:{0}#{1}@cache:6379/0",
    "amqp://app:{0}?{1}@mq:5672/x",
    "password: |\n  {0}_{1}\n",
    "> password: >-\n>   {0}{1}",
    '{{"note": "db:\\n  password: >-\\n    {0}{1}\\n"}}',
    'variable "db_password" {{ type = string\n default = "{0}{1}" }}',
    "curl -b session={0}{1}x7y9z2 https://app.example.com",
    "*:*:*:postgres:{0}{1}",
    "Passwort: {0}-{1}",
    "Das WLAN-Kennwort lautet {0}{1}!",
    "O'zgargan parola: {0}{1}",
]


@pytest.mark.parametrize("form", MISSED)
def test_what_had_been_missed_goes_whole(form: str) -> None:
    first, second = "k7" + some(6), some(6) + "q2"
    clean = REDACTOR.text(form.format(first, second))
    assert first not in clean
    assert second not in clean


def test_the_lines_of_a_key_without_a_header_go_and_those_of_a_certificate_stay() -> None:
    letters = "MIIEpAIBAAKCAQEA" + some(1576)  # as many as the first of them say
    key = "\n".join(letters[at : at + 64] for at in range(0, len(letters), 64))
    assert REDACTOR.text(f"x:\n{key}\nend") == "x:\n[REDACTED:private-key]\nend"
    for head in ("MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG", "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A"):
        other = head + key[len(head) :]
        assert REDACTOR.text(other) == other


STAYS = [
    # Code that names where a value is
    "exports.CreateOAuth2Token = CreateOAuth2Token;",
    "Vaults.Credentials = credentials_1.Credentials;",
    "this.token = a$3.Reader4Response;",
    "const password = security?.basic.password;",
    "tokenOutput: CreateOAuth2TokenResponseBody;",
    "toJSON(oauth2MetadataSecrets: Oauth2MetadataSecrets): string",
    '"oauth2-token": OAuth2TokenAuth$inboundSchema,',
    "my $password = $self->{password} || $Other::Config->{pass};",
    "'Test2::Event::Pass' => '1.302103',",
    "[Tokenizer.END_TAG_TOKEN]: endTagInHeadNoScript,",
    "credentials = standard_b64encode(credentials1).decode('ascii')",
    "const pwd = fs5.readFileSync(pwdFile2, 'utf8');",
    'TOKEN_NAME = "x-aws-ec2-metadata-token"',
    'X_TOKEN = "base64url-token"',
    "y=E||s.noDeleteOnFetchRejection,S=u",
    "RegOpenKeyEx = winreg.OpenKeyEx\nRegEnumKey = winreg.EnumKey",
    "PushObject|PassCollisions|AxisAngle2Rot|Rot2(Axis|Angle)",
    "user_pass = '%s:%s' % (user, other)",
    "run('-c', 'pass', 'arg1')",
    "splitpasswd('www.example.org:080')",
    "`users[0].password`, `'items[1].secret'`",
    "/-----BEGIN [A-Z ]*PRIVATE KEY-----/g,",
    'KEY="-----BEGIN RSA PRIVATE KEY-----\\nKh9NV...\\n-----END RSA PRIVATE KEY-----"',
    # What stands for a secret
    "Authorization: Bearer abc123",
    "machine x.example login log password pass1 account acct",
    "https://x.example/a?b=c&sig=REDACTED",
    "amqp://guest:guest@localhost/",
    'KEY_PASSWORD = "somepass"',
    "LOCAL_API_KEY=local",
    # Prose and tables
    "the --username and --password options of svn",
    "reports it as a pass. `supports_replay` says so",
    "Do not add login and password for other addresses.",
    "DashedBresenhamLine NoDashedTwoPointLine8",
    "sudo useradd user\nsudo passwd ubuntu",
    "`dmarc=pass` | `verified`",
    "messages: {pass: 'It has no index greater than 0'}",
    "Set-Cookie: CUSTOMER=WILE_E_COYOTE; path=/; Max-Age=31536000",
    "curl -b cookies.txt https://x.example",
    "Das Passwort muss 12 Zeichen haben, gehasht mit bcrypt2.",
    "Пароль хранится в поле users.password и хешируется через sha256",
    "密码保存在 `auth.password` 字段，见 README.md",
    "La contraseña se guarda en src/auth2.py",
    "Address6('2001:4860:4001:803::1011')",
    'variable "db_password" {\n  default = ""\n}',
    'variable "region" {\n  default = "eu-west-1a"\n}',
    "password: |\n  # from the vault\n",
    f"primary-key-{some(32, HEX)}",
]


@pytest.mark.parametrize("text", STAYS)
def test_what_had_been_taken_for_a_secret_stays(text: str) -> None:
    assert REDACTOR.text(text) == text


def test_a_token_in_a_path_goes_and_the_same_letters_in_base64_stay() -> None:
    key = "AK" + "IA" + "Q3ZX7YB2WV5T6RNM"
    assert key not in REDACTOR.text(f"https://x.example/keys/{key}")
    image = f"data:image/png;base64,{some(400)}/{key}/{some(400)}"
    assert REDACTOR.text(image) == image


def test_ordinary_code_has_hardly_a_finding() -> None:
    stdlib = Path(sysconfig.get_path("stdlib"))
    paths = sorted(path for path in stdlib.glob("*.py") if path.is_file())  # Debian links to /etc
    findings, files, size = findings_in(paths)
    assert findings <= 0.5 * size / 1e6
    assert files <= findings
