"""Which names announce a secret, which values can be one, and which files hold secrets by name.

Everything here is plain string work: it runs in every hook, where importing `re` alone would
take longer than the rest. A name is judged by its words: what it ends in says what it holds
(`token_usage` holds a usage, `usage_token` a token).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

SPOILED, NONE, BARE, WEAK, STRONG, PASSWORD = range(-1, 5)
"""How sure a name is: WEAK and BARE ones need a value that looks random, BARE a long one."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _row(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_PASSWORDS = _set(
    """password passwd passwort passphrase passcode passwrd pwd psw pswd pass userpass"""
)
_SECRETS = _set(
    """secret token apikey credential credentials creds pat jwt bearer apitoken authtoken
    accesstoken clientsecret appsecret secretkey accesskey privatekey authkey appkey accountkey
    masterkey signingkey licensekey licencekey encryptionkey sharedkey sharedaccesskey
    subscriptionkey writekey adminkey servicekey storagekey secrets passwords mnemonic
    seedphrase"""
)
_WEAK = _set(
    """auth api authorization oauth dsn webhook cookie hmac sas license licence
    otp totp tokens apikeys connstr connectionstring"""
)
_ENDINGS = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "credential",
    "secretkey",
    "accesskey",
    "privatekey",
    "accountkey",
    "authkey",
    "signingkey",
)
KEY_WORDS = _row(
    """key token secret pass pwd psw cred auth api pat dsn webhook jwt bearer cookie sig hmac sas
    license licence otp mnemonic connstr connectionstring value"""
)
"""In lower case; a text without any of them assigns no secret to a name."""
PARTS_OF_NAMES = _row(
    """key token secret pass pwd psw cred auth api pat jwt bearer dsn webhook cookie hmac sas licen
    otp mnemonic seed connstr connection [redacted:"""
)
"""In lower case; a name without any of them announces no secret."""
_KEY_MAKERS = _set(
    """api app access secret private client signing signature sign encryption encrypt decryption
    master account storage service auth license licence admin consumer application subscription
    write read ingest ingestion integration deploy ssh hmac jwt webhook project server shared
    function functions user developer dev personal security activation product crypto aes rsa live
    production oauth bot sdk rest restricted root team org organization tenant merchant partner
    vendor payment billing cookie wallet"""
)
"""What makes a key a secret one; with any other word before it, its value has to look random."""
_KEY_SPOILERS = _set(
    """public primary foreign session sort partition natural composite unique index lookup dict map
    object row group registry hot arrow enter idempotency publishable i18n translation message
    config option state journal host cache dedupe dedup bucket file path s3 column field json yaml
    sorting hash shard routing string int any no str first last next previous prev old_ current
    matching missing unknown valid invalid each every this other checkpoint commit branch issue
    ticket record entity item parent child node tree ref git answer press escape return shift
    control alt space tab backspace function_ host_ gpg pgp verification verify verifying
    fingerprint known authorized recv receive deploypublic pub content idempotence version docs
    label setting settings property attribute data reg registry_ cursor sequence transaction
    event correlation trace request response template"""
)
_TOKEN_SPOILERS = _set(
    """max min total num next page prompt completion input output cached sync continuation parse lex
    start end eos bos pad unk mask special stop current prev previous last first cancellation
    cancel delimiter separator context cache reasoning pagination resume continue thinking budget
    remaining used per of by n count no syntax design"""
)
_SPOILING_TAILS = _set(
    """id ids name names type types typ count counts usage url urls uri uris path paths file files
    filename length len size sizes index indexes header headers field fields prefix suffix format
    regex pattern policy reset expiry expires expire expiration ttl status hint hints label class
    cls list map function func fn provider manager service store version versions limit limits
    rotation required enabled disabled valid invalid error errors message messages msg placeholder
    algorithm algo method endpoint endpoints scope scopes kind mode prompt input column param
    params parameter wrap fingerprint ref reference arn location position start end budget window
    estimate rate cost price source stream bucket per lookup board up down press code codes word
    words spec rules rule vault ring schema stats config options option form page view link check
    checker validator validation verifier generator factory handler helper helpers util utils test
    tests callback event events date time timeout at age created updated created_at used left
    remaining total in is not was were are can must and or to of for from with by on has vs equals
    exists missing found none null strength requirements rotate book buffer info information
    middleware guard dir directory folder storage backend plugin module package domain audience
    issuer server host port display description desc title text_ state counter set get add del
    new_ changed response request resource attempts plain_ hash hashes hashing hasher md5 digest
    sum checksum derivation exchange pair pairs press_ binding bindings mapping"""
)
_FILE_ENDS = _set(
    """c cc cfg conf cpp css csv go h html ini java js json jsx kt lock lua md mjs php pl py pyi rb
    rs rst scss sh sql svelte swift toml ts tsx txt vue xml yaml yml zig"""
)
"""A name that ends so is a file's: `src/token.py`."""
_NEUTRAL_TAILS = _set(
    """value string text str prod production dev development test_ staging stage sandbox live env
    default old new main primary secondary base64 b64 encoded raw plain plaintext here var v1 v2
    v3 current a b base backup key1 key2 ci local global root admin user data"""
)
_PLACEHOLDERS = _set(
    """changeme change_me change-me none null nil true false undefined string str int integer bool
    boolean number float bytes any object array unknown never void required optional example
    placeholder redacted hidden masked todo tbd n/a dummy foo bar baz env empty default disabled
    enabled yes no on off auto inherit prompt ask write read admin user name text char varchar
    self this value values key keys type types input output field fields data json yaml file stdin
    present missing invalid valid expired revoked ok notset not-set not_set unset password passwd
    pass pwd secret token test guest anonymous sample abc xyz"""
)
_PLACEHOLDER_PARTS = _row(
    """example placeholder redacted changeme change-me change_me your- your_ yourtoken yourkey
    yourapi xxxx **** •• insert- insert_ replace- replace_ replaceme dummy -here _here goeshere
    yoursecret my-token mytoken my_token my-secret mysecret my-password mypassword my_password
    abc123 1234abc secret123 password123"""
)
_REFERENCE_STARTS = _row(
    """${ $( {{ %{ #{ <% env. env( env: env[ process.env os.environ os.getenv secrets. secrets[
    vars. var. op:// vault: ssm: arn: ref+ file: keyring: aws-secretsmanager: ./ ../ ~/"""
)
_CODE_STARTS = _row(
    """%( local. data. module. self. this. config. settings. args. opts. options. params. props.
    import.meta sha256: sha512- sha1- sha384- data:"""
)
_SAYS_ITSELF = _row("password passwd passwort passphrase passcode pass pwd secret token")
"""What a value says that only names what belongs in its place."""
_LONGEST_OF_ITSELF = 24
_SHAPES = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:+=~%@!#$^&*?,;|\\ ",
    "a" * 26 + "A" * 26 + "0" * 10 + " " * 22,
)
DIGITS = "0123456789"
_NO_INDEX = str.maketrans("", "", "[]" + DIGITS)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
IDENTIFIER = LETTERS + DIGITS + "_"
VALUE = LETTERS + DIGITS + "_-./+=~%:!@#$^*?|"
QUOTES = "\"'`"
_LETTERS_AND_DIGITS = str.maketrans(LETTERS + DIGITS, "a" * len(LETTERS) + "0" * len(DIGITS))
_NO_DIGITS = str.maketrans("", "", DIGITS)
NAMED_BY_ANOTHER = ("value", "Value")
_NAMING = ("name", "key", "Name", "Key")


def name_of(key: Any, siblings: Mapping[Any, Any]) -> str:
    """Return the name of an entry; in `{name: DB_PASSWORD, value: …}` the value has the other's."""
    if key in NAMED_BY_ANOTHER:
        for naming in _NAMING:
            if isinstance(name := siblings.get(naming), str):
                return name
    return key if isinstance(key, str) else ""


def words(name: str) -> list[str]:
    """Return the words of an identifier or a phrase, lower case: `X-apiKey` → x, api, key."""
    parts: list[str] = []
    start, before = 0, ""
    for at, char in enumerate(name):
        kind = "a" if char.islower() else "A" if char.isupper() else "0" if char.isdigit() else ""
        if kind == "" or (kind == "A" and before == "a"):
            parts.append(name[start:at])
            start = at if kind else at + 1
        elif kind == "a" and before == "A" and at - start > 1:
            parts.append(name[start : at - 1])
            start = at - 1
        before = kind
    parts.append(name[start:])
    return [part.lower() for part in parts if part]


def strength(name: str) -> int:
    """Say how sure a name is to stand for a secret."""
    name_words = words(name)
    end = len(name_words)
    if name.rpartition(".")[2] in _FILE_ENDS:
        return NONE
    while end > 1 and (name_words[end - 1] in _NEUTRAL_TAILS or name_words[end - 1].isdigit()):
        end -= 1
    for at in range(end - 1, max(end - 5, -1), -1):
        sure = _strength_of_word(name_words, at)
        if sure == SPOILED or (sure == NONE and name_words[at] in _SPOILING_TAILS):
            return NONE
        if sure == NONE:
            continue
        return sure if at == end - 1 else min(sure, WEAK)
    return NONE


def _strength_of_word(name_words: Sequence[str], at: int) -> int:
    word = name_words[at].rstrip(DIGITS)
    before = name_words[at - 1] if at else ""
    if word in ("key", "keys"):
        return _strength_of_key(name_words[:at], before)
    if word in ("token", "tokens") and before in _TOKEN_SPOILERS:
        return SPOILED
    if word in _PASSWORDS:
        return PASSWORD
    if word in _SECRETS:
        return STRONG
    if word in _WEAK:
        return WEAK
    if word.endswith(_ENDINGS):
        return PASSWORD if word.endswith(_ENDINGS[:3]) else STRONG
    return NONE


def _strength_of_key(qualifiers: Sequence[str], before: str) -> int:
    if not qualifiers:
        return BARE
    if before in _KEY_SPOILERS or "public" in qualifiers:
        return SPOILED
    return STRONG if before in _KEY_MAKERS else WEAK


def is_placeholder(value: str) -> bool:
    """Say whether a value only stands where a secret would: `<your-token>`, `xxxx`, `None`."""
    low = value.lower().strip("\"'`")
    if low in _PLACEHOLDERS or len(set(low)) < 3 or not low.strip("[]()<>*"):
        return True
    if _names_itself(low):
        return True
    if (low[0] == "<" and low[-1] == ">") or low.endswith(("...", "…")):
        return True
    return any(part in low for part in _PLACEHOLDER_PARTS) and not looks_random(value, 16)


def _names_itself(low: str) -> bool:
    """Say whether a value only says what it is: `pass1`, `somepassword`, `pass/word`."""
    if len(low) > _LONGEST_OF_ITSELF:
        return False
    stem = "".join([char for char in low if char.isalpha()])
    is_numbered = len(low) - len(stem) < 3 and stem in _SAYS_ITSELF
    return is_numbered or (low.isalpha() and low.endswith(_SAYS_ITSELF))


def is_reference(value: str) -> bool:
    """Say whether a value in a text names where the secret is: `${TOKEN}`, `self.x`, `%s`."""
    if _is_name_of_secret(value):
        return True
    if is_leaf_reference(value) or value.startswith(_CODE_STARTS) or "{" in value:
        return True
    inner = value[1:].rstrip("%-")
    if value[0] in "!@":  # a tag of YAML, a decorator, or the host of an address
        parts = inner.replace("_", " ").replace(".", " ").replace("-", " ").split(":")
        return parts[0].replace(" ", "").isalpha()
    at = value.find("$(")
    if at >= 0 and value[at + 2 : at + 4].isalpha():
        return True
    if value[0] == "%" and not any(char.isalnum() for char in value.replace("%s", "")):
        return True
    letters = inner.replace("_", "").replace(":", "")
    if value[0] == "$" and letters.replace("$", "").isalpha():
        return True  # `$user:$pass`
    return value[0] in "$%" and letters.isalnum() and inner[0] not in DIGITS


def _is_name_of_secret(value: str) -> bool:
    """Say whether a value is itself a name in words: `gateway.auth.password`, `items[1].secret`."""
    if value[-1] == "]" or "]." in value:
        value = value.translate(_NO_INDEX)
    letters = value.replace("_", "").replace(".", "").replace("?", "")
    is_in_words = len(letters) < len(value) < 64 and letters.isascii() and letters.isalpha()
    return is_in_words and (value.islower() or value.isupper()) and strength(value) >= STRONG


def is_leaf_reference(value: str) -> bool:
    """Say whether a leaf names where its secret is kept: `${TOKEN}`, `secrets.X`, `/run/x`."""
    if value.startswith(_REFERENCE_STARTS):
        return True
    if value[0] == "$" and value.upper() == value and value[1:].replace("_", "").isalpha():
        return True
    return value[0] == "/" and not looks_random(value, 24)


def looks_random(value: str, least: int) -> bool:
    """Say whether a value is made of letters and digits as no word, number or path is."""
    if len(value) < least:
        return False
    parts = value.translate(_SHAPES).split()
    mixed = 0
    for part in parts:
        if len(part) > 7 and _random_part(part):
            return True
        mixed += len(part) >= 4 and "0" in part and ("a" in part or "A" in part)
    return mixed >= 3 or [len(part) for part in parts] == [8, 4, 4, 4, 12]


def _random_part(shape: str) -> bool:
    """Say whether a part of eight characters or more is random; shape has the kind of each."""
    size = len(shape)
    ups = shape.count("aA")
    if "0" not in shape:
        # `endTagInHeadNoScript` is words; letters by chance have two capitals in a row.
        return size >= 16 and ups * 4 >= size and "AA" in shape
    turns = shape.count("a0") + shape.count("0a") + shape.count("A0") + shape.count("0A")
    # `win32api` and `base64url` are words, whatever their digits.
    if turns > 2 or (turns == 2 and (ups > 0 or size > 11)) or (turns == 1 and ups > 1):
        return True
    return turns == 1 and size >= 20


def turns(part: str) -> int:
    """Return how often letters and digits follow each other."""
    shape = part.translate(_LETTERS_AND_DIGITS)
    return shape.count("a0") + shape.count("0a")


def has_digit(value: str) -> bool:
    """Say whether a value has a digit of ASCII."""
    return len(value.translate(_NO_DIGITS)) < len(value)


def is_secret_leaf(sure: int, value: str) -> bool:
    """Say whether a parsed leaf is a secret because of its name; its text was cleaned before."""
    if sure < WEAK:
        return False
    if sure < STRONG:
        return looks_random(value, 16) and not set(" :{<") & set(value)
    if is_placeholder(value) or is_leaf_reference(value):
        return False
    return sure == PASSWORD or len(value) > 15 or not value.replace(".", "").isdigit()


_SECRET_FILES = frozenset(
    (
        ".env", ".envrc", ".netrc", "_netrc", ".pgpass", ".npmrc", ".yarnrc.yml", ".pypirc",
        ".git-credentials", ".htpasswd", ".dockercfg", ".vault-token", "credentials",
        "credentials.json", "service-account.json", "secrets.json", "secrets.yml", "secrets.yaml",
        "secrets.toml", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk",
        "id_ed25519_sk", "terraform.tfvars", "kubeconfig",
    )
)  # fmt: skip
_SECRET_ENDINGS = (
    ".env", ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc.key",
    ".tfstate", ".tfstate.backup", ".auto.tfvars",
)  # fmt: skip
_COPY_ENDINGS = ("~", ".bak", ".old", ".orig", ".save", " copy")
"""How editors and people end the names of copies."""
_EXAMPLES = ("example", "sample", "template", "dist", "defaults", "test")
"""Last parts of the names of environment files that are made to be read."""


def is_secret_file(path: str) -> bool:
    """Say whether a file's name alone says that it holds secrets."""
    name = path.rpartition("/")[2].lower().strip("#")
    for ending in _COPY_ENDINGS:
        name = name.removesuffix(ending)
    if name.startswith(".env."):
        return name.rpartition(".")[2] not in _EXAMPLES
    return name in _SECRET_FILES or name.endswith(_SECRET_ENDINGS)
