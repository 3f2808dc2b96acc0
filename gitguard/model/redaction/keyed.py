"""Values that a secret-like name stands before: `api_key: "…"`, `export X_TOKEN=…`, `--password …`.

Most tokens carry no prefix of their provider; only their name tells them from a checksum. The
scan looks at the few characters around each key word and at nothing twice, so it is linear.
"""

from __future__ import annotations

from gitguard.model.redaction.names import (
    BARE,
    DIGITS,
    IDENTIFIER,
    LETTERS,
    NONE,
    PASSWORD,
    QUOTES,
    STRONG,
    VALUE,
    WEAK,
    has_digit,
    is_placeholder,
    is_reference,
    looks_random,
    strength,
    turns,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Span = tuple[int, int, str]
"""Where a secret begins and ends, and the rule that found it."""

ASSIGNMENT, ENV_LINE, OPTION = "secret-assignment", "env-assignment", "cli-option"
_NAME = LETTERS + DIGITS + "_-."
_NO_PASSWORD = frozenset(" \\()'\"")
"""What no password has that is handed to a function."""
_AFTER_NAMES = frozenset(",;)")
"""What stands behind a name in code, and hardly ever behind a value without quotes elsewhere."""
_BRACKETS = frozenset("()[]&")
_CLOSERS = "\"'`])\\}"
_LONGEST_NAME, _NEAR, _LONGEST, _LONGEST_BLOCK = 64, 48, 65536, 2048
_PURPOSES = ("for ", "of ")
"""What stands behind a name in a sentence that says at last what it is."""
_SURELY_RANDOM, _SENTENCE, _SHORTEST_KEY = 16, 6, 128
_LONG = 4096
"""Of a longer text `re` finds the few places that are worth a look; hooks do without it."""
_NO_SECRETS = "rsa dsa ecdsa eddsa ed25519 gpg pgp public primary foreign sort"
_PUBLIC = frozenset(_NO_SECRETS.split())
"""What stands before a `key` that is no secret, or only the name of one."""
_CODE = frozenset(" ()[]{}<>\\")
_NO_BRACKETS = str.maketrans("", "", "()[]")
_NESTING = "\"'\\$"
"""What a quote begins with that stands within others."""
_ENDS = " \t\r\n\"'`"
_SHORTEST = {BARE: 24, WEAK: 16}
"""The shortest values that names accept which are not sure."""
_NO_DIGITS = str.maketrans("", "", DIGITS)
_MOST_NAMES = 1024
_STRENGTHS: dict[str, int] = {}
"""How sure names are, as they came up."""


def assigned_secrets(text: str, low: str, key_words: Iterable[str]) -> Iterator[Span]:
    """Yield the values in text that stand behind a secret-like name; low is text in lower case."""
    for word in key_words:
        end = 0
        for at in _places(text, low, word):
            if at >= end and (span := _behind(text, at, at + len(word))) is not None:
                yield span
                end = max(at + len(word), span[1])


def _places(text: str, low: str, word: str) -> Iterable[int]:
    """Return where a word stands, of a long text only where a secret may stand behind it."""
    if len(text) > _LONG:
        from gitguard.model.redaction.key_places import key_places

        return key_places(text, low, word)
    places, at = [], low.find(word)
    while at >= 0:
        places.append(at)
        at = low.find(word, at + len(word))
    return places


def _behind(text: str, start: int, end: int) -> Span | None:
    chunk = text[end : end + _NEAR]
    behind_name = chunk.lstrip(_NAME)
    if not behind_name:
        return None
    operator = behind_name.lstrip(_CLOSERS)
    closed = len(behind_name) - len(operator)
    after_name = operator.lstrip(" \t")
    if not after_name:
        return None
    mark = after_name[0]
    blanks = len(operator) - len(after_name)
    at = end + len(chunk) - len(after_name)
    name_end = end + len(chunk) - len(behind_name)
    if mark == ">" and after_name[1:2] == "`":
        return None  # in Markdown the end of `--password <password>`
    if blanks and text[name_end - 1] == ".":
        return None  # the end of a sentence
    if mark in ":=>-":
        at = _after_operator(text, at, mark)
    elif mark == "|" and behind_name[:1] not in ("'", '"') and text[start - 1 : start] != "=":
        # Behind a quote it is the type `"pass" | "fail"`, and behind a `=` a value.
        at = _cell(text, at)
    elif mark in ",(":
        at = (
            _after_comma(text, at, mark, behind_name[:closed])
            if text[start:name_end] != "pass"
            else -1
        )
    elif blanks or closed:
        at = _after_blank(text, start, name_end, at=at, after_name=after_name) if not closed else -1
    else:
        return None
    return _judge(text, start, name_end, at=at, after_name=after_name) if at >= 0 else None


def _after_operator(text: str, at: int, mark: str) -> int:
    """Return where the value behind `=`, `:`, `=>`, `:=`, `==`, `->` or `>` begins, -1 if none."""
    if mark == "-" and text[at : at + 2] != "->":
        return -1
    if mark == ":" and text[at : at + 3] == "://":
        return -1
    end = at + 1
    while end < at + 3 and text[end : end + 1] in ("=", ">", ":"):
        end += 1
    if mark == ":" and text[end : end + 3] == "** ":
        end += 2  # in Markdown the end of `**Password:**`
    value = _skip_blanks(text, end)
    if text[value : value + 1] in ("\r", "\n") and mark in ":=":
        near = text[value : value + 24]
        return value + len(near) - len(near.lstrip())
    if mark == ":" and text[value : value + 1] in ("|", ">"):
        return _in_block(text, value)
    if mark != ":" or end - at > 1:
        return value
    # `token: str = "…"`: the value stands behind the type.
    typed = text[value : value + 40].lstrip(IDENTIFIER + ".[]|?<> ")
    behind = value + len(text[value : value + 40]) - len(typed)
    if typed[:1] == "=" and typed[:2] not in ("==", "=>") and text[behind - 1] == " ":
        return _skip_blanks(text, behind + 1)
    return value


def _in_block(text: str, at: int) -> int:
    """`password: >-` and `token: |`: return where the value in the next line begins.

    The line may be one of a diff or a quotation, and a text within JSON has its end as an escape.
    """
    behind = text[at + 1 : at + _NEAR].lstrip("+-" + DIGITS).lstrip(" \t")
    if behind[:1] == "#" and "\n" in behind:
        behind = behind[behind.index("\n") :]
    at = text.find(behind, at) if behind else len(text)
    if behind[:1] not in ("\n", "\r") and behind[:2] not in ("\\n", "\\r"):
        return at if text[at - 1] in " \t" else at - 1
    line = behind.replace("\\r", "  ").replace("\\n", "  ")
    indented = line.lstrip()
    while indented[:1] in ("+", ">", "|", "*", "#") and indented[1:2] in (" ", "\t"):
        indented = indented[1:].lstrip(" \t")
    return at + len(line) - len(indented)


def _cell(text: str, at: int) -> int:
    """Return where the value in the next cell of a table begins, -1 if it is a choice: `a|b|c`."""
    value = _skip_blanks(text, at + 1)
    end = value + _run(text, value)
    is_tight = value == at + 1 and text[at - 1] != " "
    is_cell = text[end : end + 1] in ("", "\n", "\r", " ") and "|" not in text[value : end - 1]
    return -1 if is_tight and not is_cell else value


def _after_comma(text: str, at: int, mark: str, closers: str) -> int:
    """`("API_KEY", "…")` and `setToken("…")`: what is behind has to be a text of its own."""
    if mark == "," and closers not in ("'", '"', "`", "\\'", '\\"'):
        return -1
    value = _skip_blanks(text, at + 1)
    return value if text[value : value + 1] in ('"', "'", "`", "\\") else -1


def _after_blank(text: str, start: int, name_end: int, at: int, after_name: str) -> int:
    """`token is …`, `set TOKEN to …`, `--token …`, `PASSWORD '…'`, `ENV API_KEY …`."""
    if after_name[:3] in ("is ", "is:"):
        return _skip_blanks(text, at + 3)
    if after_name[:4] == "was ":
        return _skip_blanks(text, at + 4)
    if after_name[:3] == "to " and text[start:name_end] != "pass":  # which is a verb there
        return _skip_blanks(text, at + 3)
    if after_name.startswith(_PURPOSES):
        return _after_purpose(after_name, at)
    if text[start:name_end].lower() == "pass" or after_name[0] in "\r\n;,|&<":
        return -1
    if _opens_text(after_name) or len(after_name.split(None, 1)[0]) >= _SURELY_RANDOM:
        return at
    return at if "-" in text[max(0, start - _NEAR) : start] else -1


def _opens_text(after_name: str) -> bool:
    """Say whether a quote comes first, or what a shell or a database writes before one."""
    is_plain = after_name[0] in QUOTES
    return is_plain or after_name[0] in "\\EN$" and after_name[1:2] in ("\\", '"', "'", "$")


def _after_purpose(after_name: str, at: int) -> int:
    """`the api key of staging is …`: return where the value begins, -1 if there is none."""
    line = after_name.partition("\n")[0]
    for mark in (" is ", ": ", " = ", "="):
        size = line.find(mark)
        if size > 4 and line[:size].replace(" ", "").replace("-", "").isalnum():
            return at + _skip_blanks(line, size + len(mark))
    return -1


def _skip_blanks(text: str, at: int) -> int:
    near = text[at : at + 24]
    return at + len(near) - len(near.lstrip(" \t"))


def _judge(text: str, start: int, name_end: int, at: int, after_name: str) -> Span | None:
    before = text[max(0, start - _LONGEST_NAME) : start]
    name_start = start - (len(before) - len(before.rstrip(_NAME)))
    if text[name_start - 1 : name_start] == "\\" and text[name_start] in "nrt":
        name_start += 1  # of the escape of a line end
    name = text[name_start:name_end]
    if name.lower() == "value":
        name = _name_of_value(text, name_start)
    sure = _known_strength(name)
    if sure == BARE:
        sure = _with_words_before(text, name_start, name)
    if sure == NONE or _is_no_name(text, name_start, name_end):
        return None
    begin, end, quoted = _value(text, at)
    is_env = _is_env_line(text, name_start, name_end, name)
    marked = begin
    if not quoted and sure >= STRONG and text[end : end + 1] in _BRACKETS:
        in_query = text[name_start - 1 : name_start] in ("?", "&")
        marked = begin if in_query else _marked(text, begin, sure, (is_env, after_name[0] == ":"))
    # What costs least comes first, because most values in a text are none.
    if marked > begin:
        return begin, marked, ENV_LINE if is_env else ASSIGNMENT
    if end - begin < max(1, _SHORTEST.get(sure, 3)):
        return None
    value = text[begin : min(end, begin + 512)]
    is_header = value.startswith("-----") and len(value) < _SHORTEST_KEY
    if is_header or _repeats(name, value):
        return None
    option = name[:2] == "--" or (name[0] == "-" and text[name_start - 1 : name_start] in ("", " "))
    option = option and after_name[0] != ":"  # there the option is described
    form = _ValueForm(
        _written(text, (name_start, name_end, begin), after_name, sure), quoted, option, is_env
    )
    if not _accepts(sure, value, form) or _stands_for_another(value, text[end : end + 1], quoted):
        return None
    if _is_public(text, name_start):
        return None
    if not quoted:
        end = _whole(text, begin, end, sure)
    return begin, end, OPTION if option else ENV_LINE if form.env else ASSIGNMENT


def _marked(text: str, begin: int, sure: int, how: tuple[bool, bool]) -> int:
    """Return where a secret with brackets ends, its begin if there is none.

    how says whether it stands in a line of an environment, and whether behind a colon.
    """
    from gitguard.model.redaction.marked import end_of_marked, is_marked_secret, reads_as_code

    is_env, is_field = how
    end = end_of_marked(text, begin, in_form=not (is_env or is_field))
    value = text[begin:end]
    is_secret = is_marked_secret(value, PASSWORD if is_env else sure)
    is_code = is_secret and reads_as_code(value, text[end : end + 1], is_env=is_env)
    return end if is_secret and not is_code else begin


def default_of(name: str, text: str, low: str, at: int) -> Span | None:
    """Return the default in the block behind a variable's name, if that is named like a secret."""
    sure = _known_strength(name)
    stop = text.find("\n}", at, at + _LONGEST_BLOCK)
    stop = stop if stop >= 0 else at + _LONGEST_BLOCK
    behind = low.find("default", at, stop)
    after_default = ""
    while sure >= WEAK and behind >= 0 and after_default[:1] != "=":
        near = text[behind + 7 : behind + _NEAR]
        after_default = near.lstrip(" \t")
        value_start = behind + 7 + len(near) - len(after_default[1:].lstrip(" \t"))
        behind = low.find("default", behind + 7, stop)
    if after_default[:1] != "=":
        return None
    begin, end, quoted = _value(text, value_start)
    if text[begin : begin + 2] == "<<":
        begin = text.find("\n", begin) + 1
        begin += len(text[begin : begin + _NEAR]) - len(text[begin : begin + _NEAR].lstrip())
        end, quoted = begin + _run(text, begin), True
    value = text[begin:end]
    if not quoted or end - begin < _SHORTEST.get(sure, 3):
        return None
    form = _ValueForm("=", quoted, option=False, env=False)
    is_secret = _accepts(sure, value, form) and not _stands_for_another(value, "", quoted)
    return (begin, end, ASSIGNMENT) if is_secret else None


def _written(text: str, places: tuple[int, int, int], after_name: str, sure: int) -> str:
    """Return how a value stands behind its name; places are those of the name and the value."""
    name_start, name_end, begin = places
    if after_name[0] == ">" and text[name_start - 1 : name_start] == "<":
        return "="  # an element
    if after_name.startswith(_PURPOSES):
        return "is " if sure == PASSWORD and text[begin - 3 : begin] == "is " else "=="
    between = text[name_end:begin]
    is_block = between.partition(":")[2].lstrip(" \t")[:1] in ("|", ">")
    return "==" if "\n" in between and not is_block else after_name


def _repeats(name: str, value: str) -> bool:
    """Say whether a value is of its name: `x.ApiToken2 = y.ApiToken2`, `LOCAL_API_KEY=local`."""
    last = value.rpartition(".")[2]
    is_last = len(last) > 5 and last.lower() == name.rpartition(".")[2].lower()
    return is_last or name.lower().startswith(f"{value.lower()}_")


def _stands_for_another(value: str, following: str, quoted: bool) -> bool:  # noqa: FBT001
    """Say whether a value is a placeholder, a reference or a call."""
    is_code = not quoted and (_is_called(value, following) or _is_path_of_names(value))
    is_code = is_code or (not quoted and following in _AFTER_NAMES and _is_in_humps(value))
    return is_code or is_placeholder(value) or is_reference(value)


def _is_path_of_names(value: str) -> bool:
    """Say whether a value in code is where something is: `tokens_1.OAuth2Token`, `a$3.readKey`."""
    parts = value.replace("?.", ".").split(".")
    return len(parts) > 1 and all(_is_name(part) for part in parts)


def _is_in_humps(value: str) -> bool:
    """Say whether a value is a name in words: `CreateOAuth2TokenResponse`, `OAuth2Auth$schema`."""
    shape = value.translate(_NO_DIGITS)
    capitals = sum(char.isupper() for char in shape)
    is_name = value.replace("$", "_").isidentifier() and len(value) - len(shape) < 3
    return is_name and capitals > 1 and capitals * 3 < len(shape)


def _is_name(part: str) -> bool:
    letters = part.translate(_NO_DIGITS)
    is_name = part.replace("$", "_").isidentifier() and len(part) - len(letters) < 3
    return is_name and len(part) < _LONGEST_NAME and not looks_random(letters, 8)


def _known_strength(name: str) -> int:
    """Say how sure a name is; most names stand in a text more than once."""
    sure = _STRENGTHS.get(name)
    if sure is None:
        if len(_STRENGTHS) >= _MOST_NAMES:
            _STRENGTHS.clear()
        sure = _STRENGTHS[name] = strength(name)
    return sure


def _is_public(text: str, name_start: int) -> bool:
    """Say whether a token is in the address of a badge, which shows it to every reader."""
    return text[max(0, name_start - 10) : name_start] == "badge.svg?"


def _is_no_name(text: str, start: int, end: int) -> bool:
    """`MD5 (token.txt) = …` and `arn:…:secret:…` name a file and a kind of thing."""
    around = text[start - 1 : start] + text[end : end + 1] if start else ""
    return around in ("()", "::") or text[max(0, start - 2) : start] == "::"


def _is_called(value: str, following: str) -> bool:
    return following in ("(", "[") and value.replace(".", "").replace("_", "").isalnum()


class _ValueForm:
    """How a value is written."""

    def __init__(self, after_name: str, quoted: bool, option: bool, env: bool) -> None:  # noqa: FBT001
        self.spoken = after_name[:3] in ("is ", "is:") or after_name[:4] == "was "
        self.marked = after_name[0] in ":=>-" and not option
        self.quoted, self.option, self.env = quoted, option, env
        self.compared = after_name[:2] in ("==", "->") or after_name[0] == ">"
        self.called = after_name[0] in "(,"


def _accepts(sure: int, value: str, form: _ValueForm) -> bool:
    if sure == BARE:
        return len(value) >= 24 and _three_kinds(value) and looks_random(value, 24)
    if sure == PASSWORD and form.called:
        is_plain = set(value).isdisjoint(_NO_PASSWORD) and not _is_address(value)
        return len(value) > 5 and has_digit(value) and is_plain
    if sure == WEAK or form.compared or form.called:
        return looks_random(value, _SURELY_RANDOM if sure == WEAK else 8)
    if form.env or (form.option and sure == PASSWORD):
        is_plain = sure != PASSWORD and (value.isdigit() or _is_hyphenated(value))
        is_word = form.option and not form.quoted and value.isalpha() and value.islower()
        return len(value) > 3 and not is_plain and not is_word
    if not (form.marked or form.option or form.spoken):
        if sure == PASSWORD and form.quoted:
            return " " not in value and len(value) > 3
        return looks_random(value, _SURELY_RANDOM)
    if sure == PASSWORD:
        return _password_like(value, form)
    return _token_like(value, form)


def _password_like(value: str, form: _ValueForm) -> bool:
    if "." in value and value.replace(".", "").isdigit():
        return False  # a version
    if form.quoted:
        is_phrase = " " not in value or (has_digit(value) and value.count(" ") < _SENTENCE)
        return len(value) > 3 and is_phrase and value[0] != " "
    plain = value.rstrip(".,;:?!)")
    if len(plain) < 5 or plain.isdigit():
        return len(plain) > 5
    if has_digit(plain):
        return "." not in plain or not plain.replace(".", "").replace("_", "").isalnum()
    return any(symbol in plain for symbol in "!@#$%^*?+~|")


def _token_like(value: str, form: _ValueForm) -> bool:
    if looks_random(value, 8) and set(value).isdisjoint(_CODE):
        return True
    if form.quoted and _is_random_with_brackets(value):
        return True
    if len(value) < 8 or not set(value).isdisjoint(_CODE):
        return False
    if form.quoted:
        return has_digit(value) and not _is_words(value)
    return len(value) > 11 and has_digit(value) and not _is_words(value)


def _is_address(value: str) -> bool:
    """Say whether a value is a host and its port."""
    host, _colon, port = value.rpartition(":")
    return port.isdigit() and host.replace(".", "").replace("-", "").isalpha()


def _is_hyphenated(value: str) -> bool:
    """Say whether a value is words in small letters, as a placeholder is: `ollama-local`."""
    return value.islower() and "-" in value and value.replace("-", "").isalpha()


def _is_random_with_brackets(value: str) -> bool:
    """Say whether a value is random but for brackets, which generated secrets may have too.

    In quotes there is no call to be taken for one, unless the whole text is code.
    """
    name, _mark, argument = value.partition("(")
    is_call = value[-1] == ")" and name.replace("_", "").isalpha()
    if set(value) & set(" \\<>{}") or (is_call and not looks_random(argument[:-1], 8)):
        return False
    return looks_random(value.translate(_NO_BRACKETS), _SURELY_RANDOM)


def _is_words(value: str) -> bool:
    """Say whether a value is words and numbers: `my-cluster-2`, `v1.2`, `sha256`."""
    for mark in "_-./:":
        value = value.replace(mark, " ")
    parts = value.split()
    is_short = len(value) < _SHORTEST[BARE] or (len(parts) > 2 and _digits_in(value) < 3)
    return is_short and all(p.isdigit() or _is_word(p) for p in parts)


def _is_word(part: str) -> bool:
    """Say whether a part is letters with a number: `sha256`, `v1`, `base64url`."""
    return part.rstrip(DIGITS).isalpha() or (
        part.islower() and _digits_in(part) < 3 and turns(part) == 2 and part[0] not in DIGITS
    )


def _digits_in(value: str) -> int:
    return len(value) - len(value.translate(_NO_DIGITS))


def _three_kinds(value: str) -> bool:
    return value.lower() != value and value.upper() != value and has_digit(value)


def _value(text: str, at: int) -> tuple[int, int, bool]:
    """Return where the value at a place begins and ends, and whether it is in quotes."""
    head = text[at : at + 4]
    if head[:1] in _NESTING and head[1:2] in _NESTING and len(head) > 1:
        from gitguard.model.redaction.nested import in_nested_quotes

        if nested := in_nested_quotes(text, at):
            return (*nested, True)
    if head[:1] in "brufBRUFEN@$L" and head[1:2] in ('"', "'") and head:
        at += 1
        head = text[at : at + 4]
    escaped = head[:1] == "\\" and head[1:2] in ('"', "'")
    if escaped or (head[:1] in QUOTES and head):
        quote = head[:2] if escaped else head[0]
        begin = at + len(quote) * (3 if head[:3] == quote * 3 else 1)
        limit = text.find("\n", begin, begin + _LONGEST)
        limit = min(len(text), begin + _LONGEST) if limit < 0 else limit
        end = text.find(quote, begin, limit)
        if end < 0:
            end = begin + _run(text, begin)
        return begin, end, True
    return at, at + _run(text, at), False


def _run(text: str, at: int) -> int:
    chunk = text[at : at + 256]
    return len(chunk) - len(chunk.lstrip(VALUE))


def _whole(text: str, begin: int, end: int, sure: int) -> int:
    """Return where an accepted value without quotes really ends."""
    while end > begin and (run := _run(text, end)):
        end += run
    # A password may hold any mark; one that is followed by a blank or a name ends it.
    while sure == PASSWORD and end < len(text) - 1 and text[end] not in _ENDS:
        run = _run(text, end + 1)
        if (
            not run
            or text[end + 1] in "/=:"
            or text[end] in "<>"
            or "=" in text[end : end + 1 + run]
        ):
            break
        end += 1 + run
    while end > begin + 1 and text[end - 1] in ".,;:?":
        end -= 1
    return end


def _with_words_before(text: str, name_start: int, name: str) -> int:
    """`key` alone says little; `api key` and `?key=` say more."""
    before = text[max(0, name_start - 40) : name_start]
    if before[-1:] in ("?", "&") and before:
        return WEAK
    if before[-1:] != " ":
        return BARE
    words = before.rpartition("\n")[2].lower().split()
    if words and (words[-1] in _PUBLIC or "cache" in words):
        return NONE
    earlier = before.rpartition("\n")[2].split()[-2:]
    # Any number says as much as another, and a log has many.
    earlier = ["0" if word.isdigit() and word.isascii() else word for word in earlier]
    phrase = " ".join([*(word for word in earlier if word.strip("\"'`,").isalnum()), name])
    return min(_known_strength(phrase), STRONG) or NONE


def _name_of_value(text: str, value_start: int) -> str:
    """`name: DB_PASSWORD, value: …`: return the name that stands before a `value`."""
    before = text[max(0, value_start - 120) : value_start].rstrip(_CLOSERS + " ,;\n\t\r{<")
    naming = before.rstrip(_NAME)
    ends = naming.rstrip(_CLOSERS + " :=").lower().endswith(("name", "key"))
    return before[len(naming) :] if ends and naming[-1:] != before[-1:] else ""


def _is_env_line(text: str, name_start: int, name_end: int, name: str) -> bool:
    if text[name_end : name_end + 1] != "=" or not name.replace("_", "").isalnum():
        return False
    before = text[name_start - 1 : name_start] if name_start else ""
    if before in ("n", "r", "t") and text[name_start - 2 : name_start - 1] == "\\":
        before = "\n"
    return name == name.upper() and before in (
        "",
        "+",
        "\n",
        " ",
        "\t",
        ";",
        '"',
        "'",
    )


def merged(ranked: list[tuple[int, int, int, str]]) -> list[Span]:
    """Join finds that overlap; the most specific of them gives the name."""
    ranked.sort()
    joined: list[Span] = []
    best = 0
    for begin, end, rank, rule in ranked:
        if joined and begin < joined[-1][1]:
            first, last, name = joined[-1]
            joined[-1] = (first, max(last, end), rule if rank < best else name)
            best = min(best, rank)
        else:
            joined.append((begin, end, rule))
            best = rank
    return joined
