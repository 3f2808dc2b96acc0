"""Secrets and their look-alikes, made at run time, to measure the redaction independently.

The rules in gitguard/model were written without this corpus, and this corpus without the rules:
`tests/support/secret_shapes.py` takes its facts (prefix, alphabet, length, the names of variables
and headers) from open scanners and providers' documentation. No sample is stored, only shapes:
each secret is generated from a seed, so that these files set off no scanner of secrets.

A shape is written as literal text with random parts in angle brackets: `<h40>` are 40 hexadecimal
digits, `<=live|test>` is one of those words, `<uuid>`, `<words>` and `<jwt>` are what they say,
and `<~d10>` are digits that are no secret, as the id of an account within a token.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import string
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

Document = Any
"""A text, or lists and mappings of documents, as the redaction takes them."""

SAMPLES_PER_SHAPE = 5
SAMPLES_PER_LOOKALIKE = 10
_SHORTEST_PIECE, _WINDOW = 8, 5
_DEVELOPMENT_ONE_IN = 7

ALPHABETS = {
    "h": string.digits + "abcdef",
    "H": string.digits + "ABCDEF",
    "d": string.digits,
    "l": string.ascii_lowercase,
    "L": string.ascii_letters,
    "a": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "A": string.ascii_letters + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "z": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "B": string.ascii_uppercase + "234567",
    "q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "t": string.ascii_lowercase + "234567",
    "p": string.ascii_letters + string.digits + "!#%*+?^~",
    "s": string.ascii_lowercase + string.digits + "!@#%^&*(-_=+)",
}
_PART = re.compile(
    r"<(?:=([^<>]+)|~?([hHdlLaUAwbzBqtps])([0-9]+)|(uuid|UUID|words|jwt|basic|pem|pemline))>"
)
_WORDS = (
    *("Quokka", "Zephyr", "Obelix", "Fjordlax", "Wombat", "Krypton", "Nimbus", "Pretzel"),
    *("Yucatan", "Gazebo", "Tulipan", "Vortex", "Bramble", "Juniper", "Xylofon", "Dynamo"),
)


@dataclass(frozen=True)
class Secret:
    """A secret and its random parts; what is fixed in its shape tells nobody anything."""

    text: str
    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Context:
    """How a secret is met: a document with `{}` where the secret is, and the form's name."""

    form: str
    document: Document


@dataclass(frozen=True)
class Shape:
    """What a provider's secret looks like, how it is met, and who says so."""

    provider: str
    pattern: str
    names: tuple[str, ...]
    met: tuple[Context, ...]
    has_prefix: bool
    source: str


@dataclass(frozen=True)
class Sample:
    """One secret as it may come into a document."""

    shape: Shape
    form: str
    document: Document
    secret: Secret


@dataclass(frozen=True)
class Lookalike:
    """A document without any secret, of a kind that is easily taken for one."""

    kind: str
    document: Document


# Making text from a pattern


def write(random: Random, pattern: str) -> Secret:
    """Make a text from a pattern."""
    text, pieces, at = "", [], 0
    for match in _PART.finditer(pattern):
        made = _write_part(random, match)
        text += pattern[at : match.start()] + made
        at = match.end()
        if not match[1] and "~" not in match[0]:
            pieces += made.splitlines()
    text += pattern[at:]
    long = [piece for piece in pieces if len(piece) >= _SHORTEST_PIECE]
    return Secret(text, tuple(long or pieces or [text]))


def _write_part(random: Random, match: re.Match[str]) -> str:
    choice, alphabet, count, special = match.groups()
    if choice:
        words: list[str] = choice.split("|")
        return random.choice(words)
    if alphabet:
        return "".join(random.choices(ALPHABETS[alphabet], k=int(count)))
    return _SPECIAL[special](random)


def _uuid(random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


def _words(random: Random) -> str:
    """Return a password as people choose them: two words, a number, a sign."""
    first, second = random.sample(_WORDS, 2)
    sign = random.choice("!#*+?")
    return f"{first}{random.choice(('', '-', '_'))}{second}{random.randint(10, 9999)}{sign}"


def _jwt(random: Random) -> str:
    head = {"alg": "HS256", "typ": "JWT"}
    claims = {"sub": str(random.randint(10**6, 10**9)), "iat": random.randint(10**9, 2 * 10**9)}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()) for part in (head, claims)]
    signature = base64.urlsafe_b64encode(random.randbytes(32))
    return ".".join(part.decode().rstrip("=") for part in (*parts, signature))


def _basic(random: Random) -> str:
    """Return user and password as basic authentication writes them."""
    return base64.b64encode(f"deploy:{_words(random)}".encode()).decode()


def _pem_body(random: Random) -> str:
    text = base64.b64encode(random.randbytes(random.choice((300, 600, 1200)))).decode()
    return "\n".join(text[at : at + 64] for at in range(0, len(text), 64))


_SPECIAL: dict[str, Callable[[Random], str]] = {
    "uuid": _uuid,
    "UUID": lambda random: _uuid(random).upper(),
    "words": _words,
    "jwt": _jwt,
    "basic": _basic,
    "pem": _pem_body,
    "pemline": lambda random: _pem_body(random).replace("\n", "\\n"),
}


def fill(random: Random, document: Document, secret: str = "") -> Document:
    """Make a document from a pattern, with the secret where `{}` stands."""
    if isinstance(document, str):
        return write(random, document).text.replace("{}", secret)
    if isinstance(document, dict):
        return {key: fill(random, value, secret) for key, value in document.items()}
    if isinstance(document, (list, tuple)):
        return [fill(random, value, secret) for value in document]
    return document


# Where secrets are met

# A name is written as %N (DD_API_KEY), %n (dd_api_key), %k (dd-api-key), %c (ddApiKey),
# %d (dd.api.key), %p (DdApiKey) or %w (dd api key).
ASSIGNMENTS: dict[str, Document] = {
    "export": "export %N={}",
    "export, quoted": 'export %N="{}"',
    ".env": "LOG_LEVEL=info\n%N={}\nPORT=8080",
    ".env, quoted": "# settings of staging\n%N='{}'\nDEBUG=false",
    "before a command": "%N={} make deploy",
    "docker run -e": "docker run --rm -e %N={} -p 8080:8080 app:latest",
    "compose list": "services:\n  api:\n    environment:\n      - %N={}\n      - PORT=8080",
    "YAML": "env:\n  %N: {}\n  REGION: eu-west-1",
    "YAML, quoted": 'settings:\n  %n: "{}"\n  retries: 3',
    "JSON leaf": {"env": {"%N": "{}", "PORT": "8080"}},
    "JSON leaf, camel case": {"settings": {"%c": "{}", "region": "eu-west-1"}},
    "JSON text": '{"%n": "{}", "region": "eu-west-1"}',
    "TOML, HCL": '[service]\n%n = "{}"\ntimeout = 30',
    "source constant": '%N = "{}"',
    "keyword argument": 'client = Client(%n="{}", timeout=30)',
    "flag": "deploy --env staging --%k {} --verbose",
}
"""The usual forms of an assignment, each as likely as three of the rarer ones."""
RARER_ASSIGNMENTS: dict[str, Document] = {
    "Dockerfile ENV": "FROM python:3.12-slim\nENV %N={}\nRUN make",
    "Dockerfile ENV, space": "ENV %N {}",
    "Kubernetes name and value": '        - name: %N\n          value: "{}"',
    "escaped JSON text": '{\\"%n\\": \\"{}\\", \\"region\\": \\"eu-west-1\\"}',
    "os.environ": 'os.environ["%N"] = "{}"',
    "process.env": "process.env.%N = '{}';",
    "PowerShell": '$env:%N = "{}"',
    "fish": "set -gx %N {}",
    "properties": "server.port=8080\n%d={}\nlogging.level=info",
    "YAML, dotted": "%d: {}",
    "INI, kebab": "[default]\n%k = {}",
    "logfmt": 'level=info msg="client ready" %n={} attempt=1',
    "shell trace": "+ %N={}\n+ make deploy",
    "flag with =": "deploy --%k={} --verbose",
    "Java": 'private static final String %N = "{}";',
    "Go": '%c := "{}"',
    "TypeScript": 'const %c: string = "{}";',
    "annotated": '    %n: str = "{}"',
    "Python repr": "{'%n': '{}', 'region': 'eu-west-1'}",
    "terraform -var": "terraform apply -var %n={} -auto-approve",
    "helm --set": "helm upgrade api ./chart --set secrets.%c={}",
    "kubectl literal": "kubectl create secret generic api --from-literal=%N={}",
    "XML attribute": '<add key="%p" value="{}" />',
    "XML element": "<%c>{}</%c>",
    "system property": "java -D%d={} -jar app.jar",
    "prose, is": "The %w is {} and works since noon.",
    "prose, set to": "I set %N to {} and restarted the worker.",
    "log, colon": "2026-01-31 09:30:00 DEBUG using %w: {}",
    "Markdown list": "- `%N`: `{}`",
    "Markdown table": "| `%N` | `{}` |",
    "Ruby hash": ':%n => "{}",',
    "heroku config": "heroku config:set %N={} --app staging",
}
BARE: dict[str, Document] = {
    "bare, sentence": "The deploy failed because {} was revoked yesterday.",
    "bare, log": "2026-01-31T09:30:00Z WARN 401 Unauthorized for {} (attempt 2)",
    "bare, quoted": "connect('{}', retries=3)",
    "bare, alone": "{}",
    "bare, argument": "login --with {} --region eu",
    "bare, parentheses": "rotated the old one ({}) this morning",
    "bare, list leaf": ["eu-west-1", "{}"],
    "bearer": 'curl -s -H "Authorization: Bearer {}" https://api.example.com/v1/me',
    "in a URL": "git clone https://x-access:{}@git.example.com/team/app.git",
}
"""How a secret is met that one knows by its prefix."""


def _names_of(name: str) -> dict[str, str]:
    words = name.lower().split("_")
    pascal = "".join(word.capitalize() for word in words)
    return {
        "%N": name,
        "%n": name.lower(),
        "%k": "-".join(words),
        "%c": words[0] + pascal[len(words[0]) :],
        "%d": ".".join(words),
        "%p": pascal,
        "%w": " ".join(words),
    }


def _with_name(document: Document, name: str) -> Document:
    text = json.dumps(document)
    for mark, written in _names_of(name).items():
        text = text.replace(mark, written)
    return json.loads(text)


def _choose_context(random: Random, shape: Shape) -> Context:
    """Choose among the documented contexts, assignments to a name, and the bare secret."""
    kinds = [kind for kind, there in (("met", shape.met), ("named", shape.names)) if there]
    kinds += ["bare"] * shape.has_prefix
    kind = random.choice(kinds)
    if kind == "met":
        return random.choice(shape.met)
    if kind == "bare":
        return Context(*random.choice(list(BARE.items())))
    form, pattern = random.choice((*(*ASSIGNMENTS.items(),) * 3, *RARER_ASSIGNMENTS.items()))
    return Context(form, _with_name(pattern, random.choice(shape.names)))


def _wrap(random: Random, document: Document) -> Document:
    """Put a text where a session's documents have texts."""
    if not isinstance(document, str):
        return {"tool_outputs": [{"tool": "http", "result": document}]}
    return random.choice(
        (
            document,
            {"next_action": document},
            {"learnings": ["Run the slow tests first.", document]},
            {"tool_outputs": [{"tool": "Bash", "summary": f"$ cat notes.txt\n{document}\ndone"}]},
            {"failed_attempts": [{"what": "deploy to staging", "error": document}]},
        )
    )


def samples(shapes: Sequence[Shape], seed: int) -> Iterator[Sample]:
    """Make the same number of samples of each shape; the same seed makes the same ones."""
    for shape in shapes:
        random = Random(f"{seed} {shape.provider} {shape.pattern} {shape.names}")
        for _ in range(SAMPLES_PER_SHAPE):
            secret = write(random, shape.pattern)
            context = _choose_context(random, shape)
            document = _wrap(random, fill(random, context.document, secret.text))
            yield Sample(shape, context.form, document, secret)


# The two parts

FAMILIAR = {
    *("AWS", "GitHub", "GitLab", "Slack", "Stripe", "OpenAI", "Anthropic", "Google", "npm"),
    *("PyPI", "Private key", "JWT", "Hugging Face", "SendGrid", "Twilio", "PostgreSQL"),
}
"""Who writes rules knows these by heart, so they would flatter the held-out figure."""


def is_development(shape: Shape) -> bool:
    """Tell which part a provider belongs to: the familiar ones, and others by their hash."""
    digest = hashlib.sha256(shape.provider.encode()).digest()
    return shape.provider in FAMILIAR or digest[0] % _DEVELOPMENT_ONE_IN == 0


def development(shapes: Sequence[Shape]) -> list[Shape]:
    return [shape for shape in shapes if is_development(shape)]


def held_out(shapes: Sequence[Shape]) -> list[Shape]:
    return [shape for shape in shapes if not is_development(shape)]


# What is left of a secret


def texts_of(document: Document) -> Iterator[str]:
    """Return every text of a document, keys too."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for key, value in document.items():
            yield key
            yield from texts_of(value)
    elif isinstance(document, (list, tuple)):
        for value in document:
            yield from texts_of(value)


def is_left(secret: Secret, document: Document) -> bool:
    """Tell whether any five characters in a row of a secret's random parts are still there."""
    text = "\n".join(texts_of(document))
    return secret.text in text or any(window in text for window in _windows(secret))


def _windows(secret: Secret) -> Iterator[str]:
    for piece in secret.pieces:
        size = min(_WINDOW, len(piece))
        yield from (piece[at : at + size] for at in range(len(piece) - size + 1))
