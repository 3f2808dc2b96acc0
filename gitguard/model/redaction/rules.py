"""What a secret looks like when it has no prefix of its own: rules, and scans for what no
regular expression finds in linear time.
"""

# ruff: noqa: E501 - a rule is a line
from __future__ import annotations

from gitguard.model.redaction.names import DIGITS, is_placeholder, is_reference, looks_random
from gitguard.model.text import visible
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.model.redaction.keyed import Span

    _Scan = tuple[str, Callable[[str, str], Iterator[Span]]]


PLACEHOLDER = "[REDACTED:{rule}]"
OPENING = "[REDACTED:"
RULE_NAME = "abcdefghijklmnopqrstuvwxyz0123456789-"
LONGEST_RULE_NAME = 64


class Rule(Value):
    """A regular expression for one kind of secret."""

    name: str
    """In kebab-case; it appears in the placeholder."""
    literals: tuple[str, ...]
    """In lower case; a text without any of them cannot match."""
    pattern: str
    """Its group `secret`, or all of it, is taken out."""
    random: bool = False
    """Whether what was found has to look random as well, because words match the pattern too."""


_QUOTES = r"(?:\$(?=[\"']))?[\"'\\]{0,24}(?<!\\)"
"""How a shell opens a value, within other quotes too: `'`, `\\"`, `'"'"'`, `$'`, or not at all."""

WORDS: tuple[tuple[str, str, str, bool], ...] = (
    # Webhooks, whose path is the secret
    ("slack-webhook", "hooks.slack", r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{16,200})", False),
    ("discord-webhook", "/api/webhooks/ /webhooks/", r"/webhooks/[0-9]{8,24}/(?P<secret>[A-Za-z0-9_-]{30,120})", False),
    ("teams-webhook", "/webhookb2/ /incomingwebhook/ office.com/webhook/", r"(?i)/(?:webhookb2|incomingwebhook|webhook)/(?P<secret>[A-Za-z0-9@/-]{30,400})", False),
    ("zapier-webhook", "hooks.zapier.com", r"hooks\.zapier\.com/hooks/(?:catch|standard)/(?P<secret>[A-Za-z0-9/]{8,100})", False),
    ("make-webhook", ".make.com/ hook.integromat.com/", r"hook\.(?:[a-z0-9]{2,6}\.make|make|integromat)\.com/(?P<secret>[A-Za-z0-9]{20,60})", False),
    ("ifttt-webhook", "/with/key/", r"/with/key/(?P<secret>[A-Za-z0-9_-]{10,100})", False),
    ("chat-webhook", "/hooks/", r"/hooks/(?P<secret>[A-Za-z0-9]{17,30}(?:/[A-Za-z0-9]{20,80})?)(?![A-Za-z0-9_.-])", True),
    ("opsgenie-webhook", "/v1/json/integrations/ /integration/", r"/integrations?/(?P<secret>[0-9a-f]{32})\b", False),
    # Tokens whose mark is in their middle or at their end
    ("telegram-token", ":aa", r"(?<=[0-9]{8}):(?P<secret>AA[A-Za-z0-9_-]{30,40})", False),
    ("firebase-token", ":apa91b", r":(?P<secret>APA91b[A-Za-z0-9_-]{100,200})", False),
    ("mailchimp-key", "-us", r"\b[0-9a-f]{32}-us[0-9]{1,2}\b", False),
    ("terraform-token", ".atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{30,100}", False),
    ("azure-secret", "q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])", False),
    ("azure-key", "jqqj99", r"\b[A-Za-z0-9]{40,64}JQQJ99[A-Za-z0-9]{20,40}", False),
    ("azure-key", "+ast +amc +aba acdb +aeh +acr +aio azse azfu azca azcs azdo", r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{32,80}(?:\+ASt|\+AMC|\+ABa|ACDb|\+AEh|\+ACR|\+AIo|AzSe|AzFu|AzCa|AzCS|AZDO)[A-Za-z0-9+/]{4,12}={0,2}(?![A-Za-z0-9+/])", False),
    ("rapidapi-key", "msh", r"\b[a-z0-9]{10}msh[a-z0-9]{15}p1[a-z0-9]{6}jsn[a-z0-9]{12}\b", False),
    ("maxmind-key", "_mmk", r"\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b", False),
    ("deepl-key", ":fx", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:fx\b", False),
    ("newrelic-key", "nral", r"\b[0-9a-f]{36}NRAL\b", False),
    ("pgpass", "5432: 5433: 5434: 6432: 6543: :*:", r"(?<![A-Za-z0-9_.:/@-])[A-Za-z0-9_.*-]{1,255}:(?:[0-9]{4,5}|\*):[^\s:/]{1,63}:[^\s:/]{0,62}[G-Zg-z*_][^\s:/]{0,62}:(?P<secret>[^\s\"'`<>:][^\s\"'`<>]{3,255})", False),
    ("sumologic-endpoint", "/receiver/v1/http/", r"/receiver/v1/http/(?P<secret>[A-Za-z0-9_=-]{20,200})", False),
)  # fmt: skip
"""Rules whose literals stand in the secret's own word, which is long."""

PHRASES: tuple[tuple[str, str, str, bool], ...] = (
    # Headers
    ("authorization-header", "bearer ", r"(?i)\bbearer +(?P<secret>[A-Za-z0-9_.~+/=:|-]{8,4096})", True),
    ("authorization-header", "basic ", r"(?i)\bbasic +(?P<secret>[A-Za-z0-9+/=]{8,1024})(?![A-Za-z0-9_-])", True),
    ("authorization-header", "authorization", r"(?i)\bauthorization[\"'\]]{0,2} ?(?:[:=]|=>|(?<=[\"'\]]),|(?<=[\"'\]] ),) ?\\?[\"'`]?(?:basic|bearer|token|digest|apikey|key|bot|oauth|splunk|genie-?key|sso-key|sharedkey|negotiate|discogs|pve\w{0,9}|zoho-oauthtoken|shopper|ssws|user|x) {0,2}(?:token=|token |key=|user )?[\"']?(?=[^\s\"'`<>${}\\]{0,64}[0-9]|[^\s\"'`<>${}\\]{24})(?P<secret>[A-Za-z0-9+/_~=.-][^\s\"'`<>${}\\]{5,4096})", False),
    ("authorization-header", "ssws ", r"\bSSWS +(?P<secret>[A-Za-z0-9_.~-]{20,100})", False),
    ("authorization-header", "signature=", r"\bAWS4-HMAC-SHA256 [^\n]{10,400}Signature=(?P<secret>[0-9a-f]{64})", False),
    ("cookie", "cookie", r"(?i)\b(?:set-)?cookie[\"']?: ?[\"']?(?P<secret>[A-Za-z0-9_.-]{1,80}=[^\n\"'`<>]{8,4096})", True),
    ("cookie", "jsessionid phpsessid sessionid connect.sid _session= asp.net_sessionid sid=", r"(?i)\b(?:jsessionid|phpsessid|sessionid|session_id|connect\.sid|_?[a-z]{0,20}_session|asp\.net_sessionid|sid)=(?P<secret>[A-Za-z0-9_.%~+/=-]{16,1024})", True),
    ("cookie", "curl wget", r"\b(?:curl|wget)\b[^\n]{0,400}? (?:-b|--cookie)[ =]?\\?[\"'](?P<secret>[A-Za-z0-9_.-]{1,80}=[^\n\"'`<>\\]{8,4096})", True),
    ("cookie", "curl wget", r"\b(?:curl|wget)\b[^\n]{0,400}? (?:-b|--cookie)[ =]?(?P<secret>[A-Za-z0-9_.-]{1,80}=[^\s\"'`<>\\]{8,4096})", True),
    # Signed addresses
    ("signed-url", "sig= signature= -credential= signature%3d", r"(?i)(?:[?&;]|%26)(?:sig|signature|x-amz-signature|x-goog-signature|x-oss-signature|x-cos-signature|x-ms-signature|x-amz-credential)(?:=|%3d)(?P<secret>[A-Za-z0-9%+/=_.~-]{8,1024})", False),
    # Command lines
    ("cli-option", "curl wget", r"\b(?:curl|wget)\b[^\n]{0,400}? (?:-u|--user|-U|--proxy-user|-a|--auth)[ =]?" + _QUOTES + r"(?P<secret>[^\s\"'$:<>{\\]{1,100}:" + _QUOTES + r"[^\s\"'$<>{\\]{1,200})", False),
    ("cli-option", "mysql mysqldump mariadb mysqladmin", r"\b(?:mysql\w{0,10}|mariadb\w{0,10})\b[^\n|;]{0,200}? -p" + _QUOTES + r"(?P<secret>[^\s\"'$<>{\\-][^\s\"'$<>{]{2,100})", False),
    ("cli-option", "sshpass", r"\bsshpass +-p ?" + _QUOTES + r"(?P<secret>[^\s\"'$<>{\\][^\s\"'$<>{]{1,100})", False),
    ("cli-option", "login", r"\b(?:docker|podman|helm|az|oc|registry|buildah|skopeo)\b[^\n|;]{0,100} login\b[^\n|;]{0,200}? (?:-p|--password|--token|-t)[= ]?" + _QUOTES + r"(?P<secret>[^\s\"'$<>{\\-][^\s\"'$<>{]{3,2000})", False),
    ("cli-option", "openssl smbclient ldapsearch redis-cli pgpass", r"\b(?:-passin pass:|-passout pass:|-pass pass:|redis-cli [^\n]{0,100}?-a |ldap\w{3,8} [^\n]{0,200}?-w |smbclient [^\n]{0,100}?-U ?[^\s%]{1,60}%)" + _QUOTES + r"(?P<secret>[^\s\"'$<>{\\][^\s\"'$<>{]{2,200})", False),
    ("netrc", "login account", r"(?i)\b(?:login|user|account)\s{1,8}[^\s]{0,99}[^\s,;]\s{1,8}password\s{1,8}[\"']?(?![a-z]{1,20}(?:[\s\"']|\Z))(?P<secret>[^\s\"'\\]{3,256})", False),
    ("sql-password", "identified", r"(?i)\bidentified (?:with [\w'\"]{1,40} )?(?:by|as) (?:password )?[en$]?[\"'\\]{1,24}(?<!\\)(?P<secret>[^\"'\\\n][^\"'\n]{2,200})[\"']", False),
    ("oracle-password", "jdbc:oracle sqlplus", r"(?i)(?:jdbc:oracle:\w{2,6}:|sqlplus (?:-\w{1,3} )?)[A-Za-z0-9_$#]{1,60}/(?P<secret>[^\s@\"'$<>{]{3,100})@", False),
)  # fmt: skip
"""Rules for a secret that other words announce.

A line of both is a name, literals, a pattern, and whether the find has to look random.
"""


def rule_of(line: tuple[str, str, str, bool]) -> Rule:
    """Return the rule that a line describes."""
    name, literals, pattern, random = line
    return Rule(name, tuple(literals.split()), pattern, random)


def private_keys(text: str, low: str) -> Iterator[Span]:
    """Yield PEM and PGP blocks of private keys, also such that were cut off or are escaped."""
    at = low.find("-----begin ")
    end = 0
    while at >= 0:
        following = low.find("-----begin ", at + 11)
        header_end = low.find("-----", at + 11, at + 91)
        if header_end < 0 or "private key" not in low[at:header_end]:
            at = following
            continue
        if 0 <= end < header_end:
            end = low.find("-----end ", header_end)
        stop = following if following >= 0 else len(text)
        if 0 <= end < stop:
            close = low.find("-----", end + 9, end + 91)
            last, body_end = (end + 9 if close < 0 else close + 5), end
        else:
            last = body_end = _end_of_cut_key(text, header_end + 5, stop)
        # Of a pattern, or of a manual that writes `...` there, nothing has to be hidden.
        if len(text[header_end + 5 : body_end].replace("\\n", "").strip(_NO_BODY)) > 15:
            yield at, last, "private-key"
        at = following


_LINE_ENDS = ("\\n", "\\r", "\\u000a", "\\u000d", "%0A", "%0D", "%0a", "%0d")
_NO_BODY = " \t\r\n.\"'/[]*+?|,()…"
_BASE64 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/="


def _end_of_cut_key(text: str, at: int, stop: int) -> int:
    """Return how far the lines of a key without an end go."""
    end = at
    while at < stop:
        line_end = text.find("\n", at, stop)
        line_end = stop if line_end < 0 else line_end
        line = text[at:line_end]
        for escape in _LINE_ENDS if "\\" in line or "%" in line else ():
            line = line.replace(escape, "")
        if not line.isprintable() or not line.isascii():
            line = visible(line)
        line = line.strip(" \t\r\"',|>+\\")
        is_header = line.startswith(("Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:"))
        left = line.lstrip(_BASE64)
        if left and not is_header:
            cut = text.find(left, at, line_end)
            return end if len(line) - len(left) < 16 or cut < 0 else cut
        at = line_end + 1
        end = min(line_end, stop) if line else end
    return min(end, stop)


def putty_keys(text: str, low: str) -> Iterator[Span]:
    """Yield the private lines of PuTTY's key files."""
    at = low.find("private-lines:")
    while at >= 0:
        following = low.find("private-lines:", at + 14)
        begin = text.find("\n", at, at + 24) + 1
        stop = following if following >= 0 else len(text)
        if begin:
            mac = low.find("private-mac:", begin, min(begin + 16384, stop))
            end = low.find("\n", mac, stop) if mac >= 0 else _end_of_cut_key(text, begin, stop)
            yield at, stop if end < 0 else end, "private-key"
        at = following


def url_credentials(text: str, low: str) -> Iterator[Span]:
    """Yield what stands before the `@` of an address: a password, or a token alone."""
    at = text.find("://")
    while at >= 0:
        begin = at + 3
        near = text[begin : begin + 1024]
        at = text.find("://", begin)
        if "@" not in near:
            continue
        end = min(
            (near.find(mark) for mark in "/?# \t\r\n\"'<>`|" if mark in near), default=len(near)
        )
        # A password may hold a slash; then the `@` comes before any blank.
        authority = near[:end]
        if "@" not in authority and ":" in authority and near[end : end + 1] in ("/", "#", "?"):
            word = near.split(None, 1)[0] if near.strip() else ""
            authority = _with_slashes(word)
        user, mark, _host = authority.rpartition("@")
        if mark and not _is_default(user) and (span := _in_userinfo(user, begin)):
            yield span


def _with_slashes(word: str) -> str:
    user, mark, _host = word.rpartition("@")
    name, colon, password = user.partition(":")
    plain = (
        colon and not any(c in name for c in "/[?#") and not any(c in password for c in "\"'<>`|")
    )
    # `host:8080/path@x` is a port, not a password.
    digits = len(password) - len(password.lstrip(DIGITS))
    is_port = name and digits and password[digits : digits + 1] in ("", "/", "#", "?")
    return word if mark and plain and not is_port else ""


def _is_default(user: str) -> bool:
    """Say whether a password is the one that everybody has: `guest:guest`."""
    name, colon, password = user.partition(":")
    return bool(colon) and name == password and name.isalpha()


def _in_userinfo(user: str, begin: int) -> Span | None:
    name, colon, password = user.partition(":")
    if colon:
        if len(password) < 2 or is_placeholder(password) or is_reference(password):
            return (
                None
                if not (len(password) < 2 and looks_random(name, 16))
                else (begin, begin + len(name), "url-credentials")
            )
        if looks_random(name, 20):
            return begin, begin + len(user), "url-credentials"
        return begin + len(name) + 1, begin + len(user), "url-credentials"
    return (begin, begin + len(user), "url-credentials") if looks_random(user, 16) else None


def kubernetes_secrets(text: str, low: str) -> Iterator[Span]:
    """Yield the values under `data:` and `stringData:` of a manifest of kind Secret."""
    at = low.find("kind: secret\n")
    while at >= 0:
        start = max(low.rfind("\n---", 0, at), 0)
        stop = low.find("\n---", at)
        stop = len(text) if stop < 0 else stop
        yield from _block_values(text, start, stop)
        at = low.find("kind: secret\n", stop)


def _block_values(text: str, start: int, stop: int) -> Iterator[Span]:
    inside, at = False, start
    for line in text[start:stop].splitlines(keepends=True):
        if line[:1] not in (" ", "\t", "\n", "#"):
            inside = line.startswith(("data:", "stringData:"))
        elif inside:
            name, colon, value = line.partition(":")
            plain = value.strip()
            if colon and len(plain) > 2 and not is_placeholder(plain) and not is_reference(plain):
                begin = at + len(name) + 1 + value.index(plain)
                yield begin, begin + len(plain), "kubernetes-secret"
        at += len(line)


def bare_private_keys(text: str, low: str, mark: str) -> Iterator[Span]:
    """Yield the lines of a private key whose first line stands there without a header.

    In DER a key begins with its size and its version, so a few letters have fixed places.
    """
    at = text.find(mark)
    while at >= 0:
        start = at - DER_MARKS[mark]
        before = text[start - 2 : start].strip(" \n") if start > 1 else text[:start]
        # A line of a diff begins with a `+`, which is a letter of base64 as well.
        is_first = before[-1:] not in _BASE64 or before in ("", "+", "\\n", "\\r")
        if start >= 0 and text[start] == "M" and is_first:
            end = _end_of_cut_key(text, start, min(len(text), start + 16_384))
            end = _end_of_der(text, start, end)
            if end - start > _SHORTEST_KEY:
                yield start, end, "private-key"
        at = text.find(mark, at + len(mark))


def _end_of_der(text: str, start: int, stop: int) -> int:
    """Return where the line ends in which a key has as many letters as its first bytes say."""
    import binascii

    head = binascii.a2b_base64(text[start : start + 8])
    size = {0x82: head[2] * 256 + head[3] + 4, 0x81: head[2] + 3}.get(head[1], head[1] + 2)
    letters = (size + 2) // 3 * 4
    end = start
    while letters > 0 and end < stop:
        at = end
        end = text.find("\n", at + 1, stop)
        end = stop if end < 0 else end
        letters -= len(text[at:end].strip().lstrip("+>|*# \t"))
    return end


DER_MARKS = {
    "IBAAK": 6,  # RSA and DSA
    "IBADAN": 6,  # RSA in PKCS 8
    "AgEAM": 4,  # another in PKCS 8
    "AgEBB": 4,  # a long elliptic curve
    "CAQEE": 3,  # a short one
    "CAQAw": 3,  # Ed25519 and the like
    "BgkqhkiG9w0BBQ": 8,  # encrypted
}
"""What stands in the first line of a key, and how far behind its beginning."""
_SHORTEST_KEY = 56


def terraform_defaults(text: str, low: str) -> Iterator[Span]:
    """Yield the default of a variable that is named like a secret."""
    from gitguard.model.redaction.keyed import default_of

    at = low.find("variable ")
    while at >= 0:
        name, quote, _tail = text[at + 9 : at + 137].lstrip(" \\").removeprefix('"').partition('"')
        if quote and (span := default_of(name.rstrip("\\"), text, low, at + 9)):
            yield span
        at = low.find("variable ", at + 9)


def spoken_passwords(text: str, low: str, word: str) -> Iterator[Span]:
    """Yield the passwords that sentences tell behind a word for one."""
    from gitguard.model.redaction.spoken import passwords_behind

    return passwords_behind(text, low, word)


_SPOKEN = """passwort passwört kennwort contraseñ contrasen clave lozink лозинк šifr шифр парол
    密码 密碼 口令 パスワード 暗証番号 parola şifre sifre senha hasło hasła heslo wachtwoord
    lösenord 비밀번호"""
"""Words for a password beside English ones, in lower case, without the ends that change."""


def _scan_of(scan: Callable[[str, str, str], Iterator[Span]], word: str) -> _Scan:
    return word.lower(), lambda text, low: scan(text, low, word)


SCANS: tuple[tuple[str, Callable[[str, str], Iterator[Span]]], ...] = (
    ("-----begin ", private_keys),
    ("private-lines:", putty_keys),
    *(_scan_of(bare_private_keys, mark) for mark in DER_MARKS),
    ("kind: secret", kubernetes_secrets),
    ("://", url_credentials),
    ("variable ", terraform_defaults),
    *(_scan_of(spoken_passwords, word) for word in _SPOKEN.split()),
)
"""The literal a text must hold, in lower case, and the scan that then runs over it."""
KEY_SCANS = 2 + len(DER_MARKS)
"""How many of them find keys, whose name goes before a token's in them."""


def is_wall(value: str) -> bool:
    """Say whether a text is a placeholder and nothing else."""
    return next(walls(value), None) == (0, len(value))


def walls(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the placeholders of a text begin and end."""
    at = text.find(OPENING)
    while at >= 0:
        behind = at + len(OPENING)
        name = text[behind : behind + LONGEST_RULE_NAME + 1]
        size = len(name) - len(name.lstrip(RULE_NAME))
        if 0 < size <= LONGEST_RULE_NAME and text[behind + size : behind + size + 1] == "]":
            behind += size + 1
            yield at, behind
        at = text.find(OPENING, behind)


def without_walls(text: str) -> str:
    """Return a name as it is judged before and after a secret in it is taken out."""
    for begin, end in reversed(list(walls(text))):
        text = text[:begin] + text[end:]
    return text
