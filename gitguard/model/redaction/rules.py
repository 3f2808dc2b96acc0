"""What a secret looks like when it has no prefix of its own: rules, and scans for what no
regular expression finds in linear time.
"""

# ruff: noqa: E501 - a rule is a line
from __future__ import annotations

from gitguard.model.redaction.names import is_placeholder, is_reference, looks_random
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.model.redaction.keyed import Span


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
    ("sumologic-endpoint", "/receiver/v1/http/", r"/receiver/v1/http/(?P<secret>[A-Za-z0-9_=-]{20,200})", False),
)  # fmt: skip
"""Rules whose literals stand in the secret's own word, which is long."""

PHRASES: tuple[tuple[str, str, str, bool], ...] = (
    # Headers
    ("authorization-header", "bearer ", r"(?i)\bbearer +(?P<secret>[A-Za-z0-9_.~+/=:|-]{8,4096})", True),
    ("authorization-header", "basic ", r"(?i)\bbasic +(?P<secret>[A-Za-z0-9+/=]{8,1024})(?![A-Za-z0-9_-])", True),
    ("authorization-header", "authorization", r"(?i)\bauthorization[\"'\]]{0,2} ?(?:[:=]|=>|(?<=[\"'\]]),|(?<=[\"'\]] ),) ?\\?[\"'`]?(?:basic|bearer|token|digest|apikey|key|bot|oauth|splunk|genie-?key|sso-key|sharedkey|negotiate|discogs|pve\w{0,9}|zoho-oauthtoken|shopper|ssws|user|x) {0,2}(?:token=|token |key=|user )?[\"']?(?=[^\s\"'`<>${}\\]{0,64}[0-9]|[^\s\"'`<>${}\\]{24})(?P<secret>[^\s\"'`<>${}\\]{6,4096})", False),
    ("authorization-header", "ssws ", r"\bSSWS +(?P<secret>[A-Za-z0-9_.~-]{20,100})", False),
    ("authorization-header", "signature=", r"\bAWS4-HMAC-SHA256 [^\n]{10,400}Signature=(?P<secret>[0-9a-f]{64})", False),
    ("cookie", "cookie", r"(?i)\b(?:set-)?cookie[\"']?: ?[\"']?(?P<secret>[A-Za-z0-9_.-]{1,80}=[^\n\"'`<>]{12,4096})", False),
    ("cookie", "jsessionid phpsessid sessionid connect.sid _session= asp.net_sessionid sid=", r"(?i)\b(?:jsessionid|phpsessid|sessionid|session_id|connect\.sid|_?[a-z]{0,20}_session|asp\.net_sessionid|sid)=(?P<secret>[A-Za-z0-9_.%~+/=-]{16,1024})", True),
    # Signed addresses
    ("signed-url", "sig= signature= -credential= signature%3d", r"(?i)(?:[?&;]|%26)(?:sig|signature|x-amz-signature|x-goog-signature|x-oss-signature|x-cos-signature|x-ms-signature|x-amz-credential)(?:=|%3d)(?P<secret>[A-Za-z0-9%+/=_.~-]{8,1024})", False),
    # Command lines
    ("cli-option", "curl wget", r"\b(?:curl|wget)\b[^\n]{0,400}? (?:-u|--user|-U|--proxy-user|-a|--auth) ?[\"']?(?P<secret>[^\s\"'$:<>{]{1,100}:[^\s\"'$<>{]{1,200})", False),
    ("cli-option", "mysql mysqldump mariadb mysqladmin", r"\b(?:mysql\w{0,10}|mariadb\w{0,10})\b[^\n|;]{0,200}? -p[\"']?(?P<secret>[^\s\"'$<>{-][^\s\"'$<>{]{2,100})", False),
    ("cli-option", "sshpass", r"\bsshpass +-p ?[\"']?(?P<secret>[^\s\"'$<>{]{2,100})", False),
    ("cli-option", "login", r"\b(?:docker|podman|helm|az|oc|registry|buildah|skopeo)\b[^\n|;]{0,100} login\b[^\n|;]{0,200}? (?:-p|--password|--token|-t)[= ]?[\"']?(?P<secret>[^\s\"'$<>{-][^\s\"'$<>{]{3,2000})", False),
    ("cli-option", "openssl smbclient ldapsearch redis-cli pgpass", r"\b(?:-passin pass:|-passout pass:|-pass pass:|redis-cli [^\n]{0,100}?-a |ldap\w{3,8} [^\n]{0,200}?-w |smbclient [^\n]{0,100}?-U ?[^\s%]{1,60}%)[\"']?(?P<secret>[^\s\"'$<>{]{3,200})", False),
    ("netrc", "login account", r"(?i)\b(?:login|user|account)\s{1,8}[^\s]{1,100}\s{1,8}passw(?:or)?d\s{1,8}[\"']?(?P<secret>[^\s\"']{3,256})", False),
    ("sql-password", "identified", r"(?i)\bidentified (?:with [\w'\"]{1,40} )?(?:by|as) (?:password )?[\"'](?P<secret>[^\"'\n]{3,200})[\"']", False),
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
            yield at, (end + 9 if close < 0 else close + 5), "private-key"
        else:
            yield at, _end_of_cut_key(text, header_end + 5, stop), "private-key"
        at = following


_BASE64 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/="


def _end_of_cut_key(text: str, at: int, stop: int) -> int:
    """Return how far the lines of a key without an end go."""
    end = at
    while at < stop:
        line_end = text.find("\n", at, stop)
        line_end = stop if line_end < 0 else line_end
        line = text[at:line_end].replace("\\n", "").replace("\\r", "").strip(" \t\r\"',|>+\\")
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
        if "@" not in authority and ":" in authority and "/" in near:
            word = near.split(None, 1)[0] if near.strip() else ""
            authority = _with_slashes(word)
        user, mark, _host = authority.rpartition("@")
        if mark and (span := _in_userinfo(user, begin)):
            yield span


def _with_slashes(word: str) -> str:
    user, mark, _host = word.rpartition("@")
    name, colon, password = user.partition(":")
    plain = (
        colon
        and "/" not in name
        and "[" not in name
        and not any(c in password for c in "?#&\"'<>`|")
    )
    # `host:8080/path@x` is a port, not a password.
    return word if mark and plain and not password.partition("/")[0].isdigit() else ""


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


SCANS: tuple[tuple[str, Callable[[str, str], Iterator[Span]]], ...] = (
    ("-----begin ", private_keys),
    ("private-lines:", putty_keys),
    ("kind: secret", kubernetes_secrets),
    ("://", url_credentials),
)
"""The literal a text must hold, in lower case, and the scan that then runs over it."""
KEY_SCANS = 2
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
