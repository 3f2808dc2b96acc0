"""Kinds of secrets that the corpus of providers does not have: hard marks, files, prose, glue.

They were written after the rules had missed them, with the rules in sight, so they are counted
apart from the held-out figure.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from tests.support.secret_corpus import ALPHABETS, Sample, Secret, Shape, write

Make = Callable[[Random], Secret]
"""Returns one secret."""


class Kind(NamedTuple):
    """What a secret of a kind is, and the texts in which it is met, with `{}` where it is."""

    name: str
    make: Make
    texts: tuple[str, ...]
    out_of_reach: tuple[str, ...] = ()
    """The surroundings in which most are missed, which the page on redaction names."""


PER_TEXT = 4
"""How many secrets are made of each text for a seed."""
_SPLIT_LINES = ("split line", "split line, indented", "split line of a diff")
_SPLIT = (*_SPLIT_LINES, "concatenated", "concatenated lines")
_MARKS = "([&$#^!*@%)]~+"
_CRYPT = ALPHABETS["A"] + "./"


def _drawn(random: Random, alphabet: str, size: int) -> str:
    return "".join(random.choices(alphabet, k=size))


def pattern(text: str) -> Make:
    return lambda random: write(random, text)


def whole(text: str) -> Secret:
    """Return a secret that is nothing but its random parts."""
    return Secret(text, tuple(text.splitlines()))


def with_marks(random: Random) -> Secret:
    """Return what a generator of passwords makes: letters, digits and two marks or more."""
    while True:
        size = random.randint(10, 20)
        drawn = [*_drawn(random, ALPHABETS["A"], size - 3), *_drawn(random, "([&$#", 1)]
        drawn += _drawn(random, _MARKS, 2)
        random.shuffle(drawn)
        text = "".join(drawn)
        digits = sum(char.isdigit() for char in text)
        # In a shell `$A` at the beginning names a variable, and `#` a comment.
        if digits and text[0] not in "$#%" and sum(char.isalpha() for char in text) > 3:
            return whole(text)


def django(random: Random) -> Secret:
    return whole(_drawn(random, "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", 50))


def in_address(random: Random) -> Secret:
    """Return a password that has a `#`, which ends an address elsewhere."""
    text = _drawn(random, ALPHABETS["A"], random.randint(9, 16))
    at = random.randrange(1, len(text))
    return whole(f"{text[:at]}#{text[at:]}")


def crypt(form: str) -> Make:
    """Return what makes a hash: `<8>` are so many characters of a salt or a sum."""

    def made(random: Random) -> Secret:
        parts = form.split("<")
        drawn = [parts[0]]
        for part in parts[1:]:
            size, _mark, behind = part.partition(">")
            drawn.append(_drawn(random, _CRYPT, int(size)) + behind)
        return whole("".join(drawn))

    return made


def _der(head: str, least: int, most: int) -> Make:
    """Return what makes the lines of a key: its DER begins with head, which is in hex."""

    def made(random: Random) -> Secret:
        data = bytes.fromhex(head) + random.randbytes(random.randint(least, most))
        text = base64.b64encode(data).decode()
        return whole("\n".join(text[at : at + 64] for at in range(0, len(text), 64)))

    return made


def any_of(*makes: Make) -> Make:
    return lambda random: random.choice(makes)(random)


_RSA = "308204a40201000282010100"
_PKCS8 = "308204bd020100300d06092a864886f70d0101010500048204a7308204a30201000282010100"
_PKCS8_EC = "308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420"
_SEC1 = "3077020101" + "0420"
_ED25519 = "302e020100300506032b657004220420"
_ENCRYPTED = "3082051c304e06092a864886f70d01050d3041302906092a864886f70d01050c301c0408"
DER_KEY = any_of(
    _der(_RSA, 1150, 1180),
    _der(_PKCS8, 1150, 1180),
    _der(_PKCS8_EC, 100, 104),
    _der(_SEC1, 112, 114),
    _der(_ED25519, 32, 32),
    _der(_ENCRYPTED, 1200, 1250),
)
WORDS = pattern("<words>")
_NEWER = """snyk_uat. sntrys_ glsa_ hvs. dop_v1_ sbp_ nfp_ npg_ napi_ pscale_tkn_ rnd_ vcp_ fo1_
    lin_api_ lin_oauth_ ntn_ figd_ pnu_ dbtc_ phx_ hcaik_ xaat- PMAK- NRAK- gsk_ r8_ pplx- xai-
    tvly- jina_ pcsk_ nvapi- csk- fc- tskey- dnkey- sktsec_ rootly_ duffel_live_ shippo_live_ rdme_
    CFPAT- polar_oat_ wandb_v1_ e2b_ CCIPAT_ bkua_ waka_"""
"""Prefixes of providers that came with them in the last years."""


def newer(random: Random) -> Secret:
    """Return a token with one of the newer prefixes, of a length that fits most of them."""
    prefix = random.choice(_NEWER.split())
    sizes = {"xaat-": "<uuid>", "fc-": "<h32>", "xai-": "<A80>"}
    return write(random, prefix + sizes.get(prefix, "<h40>"))


PROSE = {
    "English": ("The staging password is {}.", "password for the test server is {} since May"),
    "German": ("Das Passwort lautet {}.", "Das Kennwort für die Datenbank ist {} und gilt."),
    "Spanish": ("La contraseña es {}.", "La contraseña de la base de datos es {} desde ayer"),
    "Serbian, Latin": ("Lozinka je {}.", "Lozinka za bazu podataka je {} od juče"),
    "Serbian, Cyrillic": ("Лозинка је {}.", "Шифра за базу података је {} од јуче"),
    "Russian": ("Пароль — {}.", "Пароль от тестового сервера: {} с мая"),
    "Chinese": ("密码是{}。", "数据库的密码为 {} ，请勿外传"),
    "Japanese": ("パスワードは{}です。", "データベースのパスワードは {} になりました"),
    "Turkish": ("Parola {}.", "Veritabanının şifresi: {} olarak değişti"),
}

KINDS = (
    Kind(
        "unquoted, with brackets and marks",
        with_marks,
        (
            "DB_PASSWORD={}",
            "LOG_LEVEL=info\nDB_PASSWORD={}\nPORT=8080",
            "export ADMIN_PASSWORD={}",
            "password: {}",
            "db.password={}",
            "docker run -e MYSQL_PASSWORD={} app",
            "password = {}",
        ),
        out_of_reach=_SPLIT,
    ),
    Kind(
        "Django's key",
        django,
        (
            "SECRET_KEY={}",
            "DEBUG=1\nDJANGO_SECRET_KEY={}\nX=1",
            "secret_key: {}",
            "SECRET_KEY = '{}'",
        ),
        out_of_reach=_SPLIT,
    ),
    Kind(
        "`#` in an address",
        in_address,
        ("DATABASE_URL=postgres://app:{}@db.example.com:5432/app", "redis://:{}@cache:6379/0"),
        out_of_reach=_SPLIT_LINES,
    ),
    *(
        Kind(
            f"newer prefix behind `{mark}`", newer, (f"see backup{mark}{{}} now", f"old{mark}{{}}")
        )
        for mark in "-._"
    ),
    Kind(
        "YAML block",
        any_of(WORDS, pattern("<A24>"), pattern("<h32>")),
        (
            "db:\n  password: >-\n    {}\n  port: 5432",
            "password: |\n  {}\n",
            "api_token: |-\n  {}\nuser: app",
            "admin_password: >\n    {}",
        ),
    ),
    Kind(
        "Terraform's default",
        any_of(WORDS, pattern("<A24>")),
        (
            'variable "db_password" {{ default = "{}" }}',
            'variable "db_password" {{\n  type      = string\n  sensitive = true\n'
            '  default   = "{}"\n}}',
            'variable "api_token" {{\n  description = "for \\"v2\\" (old)"\n  default="{}"\n}}',
        ),
    ),
    Kind(
        "curl's cookie",
        any_of(pattern("<A32>"), pattern("<h32>"), pattern("<w40>")),
        (
            "curl -b 'session={}' https://app.example.com/me",
            'curl -s --cookie "sid={}; theme=dark" https://app.example.com',
            "curl https://app.example.com --cookie=auth={}",
            "wget -q --header 'Cookie: s={}' https://app.example.com",
        ),
    ),
    Kind(
        ".pgpass",
        any_of(WORDS, pattern("<A16>")),
        ("db.example.com:5432:shop:app:{}", "*:*:*:postgres:{}", "# old\nlocalhost:5433:*:me:{}\n"),
    ),
    Kind(
        "htpasswd and shadow",
        any_of(
            *(crypt(form) for form in ("$apr1$<8>$<22>", "$2y$10$<53>", "$2b$12$<53>")),
            *(crypt(form) for form in ("$1$<8>$<22>", "$5$<16>$<43>", "$6$<16>$<86>")),
            *(crypt(form) for form in ("$y$j9T$<22>$<43>", "$5$rounds=5000$<16>$<43>")),
            lambda random: whole("{SHA}" + base64.b64encode(random.randbytes(20)).decode()),
        ),
        ("deploy:{}", "root:{}:19676:0:99999:7:::", "a:b\nuser:{}\n", "hash is {}"),
    ),
    Kind("a key's lines without a header", DER_KEY, ("{}", "the key:\n{}\nand so on", "key: {}")),
    Kind(
        "JWT behind `/`",
        pattern("<jwt>"),
        ("https://app.example.com/verify/{}", "GET /v1/confirm/{} 200", "/{}", "x/{}/y"),
    ),
    *(Kind(f"prose, {language}", WORDS, texts) for language, texts in PROSE.items()),
)


def samples_of(kind: Kind, seed: int) -> Iterator[Sample]:
    """Make samples of each text of a kind; the same seed makes the same ones."""
    random = Random(f"{seed} {kind.name}")
    shape = Shape(kind.name, "", (), (), False, "")
    for text in kind.texts:
        for _ in range(PER_TEXT):
            secret = kind.make(random)
            document = text.replace("{{", "{").replace("}}", "}") if "{{" in text else text
            yield Sample(shape, text, document.replace("{}", secret.text), secret)
