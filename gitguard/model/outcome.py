"""How a tool call ended: what of its error is kept, and whether it failed at all."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    import shlex

ERROR_LIMIT = 400
"""The most characters of an error that are kept."""
_READ = 64 << 10
"""Characters of an error's end that are looked at."""
_EXIT_CODE = re.compile(r"exit code (\d{1,3})\b:?\s*", re.IGNORECASE)
_PROGRESS = re.compile(
    r"\s*(?:"
    r"\[\s*\d{1,3}\s?%\].*"  # make, ninja
    r"|[.sxXFEa-z]*\s*\[\s*\d{1,3}%\]"  # pytest
    r"|.*\d\s?%.*[━█#=]{3,}.*|.*[━█]{3,}.*|.*\[[=#>\-. ]{5,}\].*"  # bars
    r"|(?:remote:\s*)?(?:Counting|Compressing|Enumerating|Receiving|Resolving|Writing|Updating"
    r"|Downloading|Uploading|Fetching|Extracting|Unpacking|Progress)\b.*\d\s?%.*"
    r")"
)
_QUESTIONS = {
    "grep": (1,), "egrep": (1,), "fgrep": (1,), "rg": (1,), "ag": (1,), "pgrep": (1,),
    "test": (1,), "[": (1,), "[[": (1,), "ls": (1, 2), "which": (1,), "type": (1,),
    "diff": (1,), "cmp": (1,),
}  # fmt: skip
"""Commands that answer no with an exit code, and with which; GNU's `ls` says 2."""
_BESIDE = ("cd", "echo", "true", ":", "export", "set", "pwd")
"""Commands beside a question that do not fail by themselves, or say so."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LOOKS = _words(
    "ag awk basename cat cmp curl cut date df diff dig dirname du egrep fgrep file find grep head "
    "hostname id journalctl jq less ls nl nslookup pgrep ping ps readlink realpath rg sleep sort "
    "stat tail test tr tree type uname uniq wc which whoami [ [["
) | frozenset(_BESIDE)
"""Programs that only look something up, unless an option of `_CHANGES` is given."""
_CHANGES: dict[str, tuple[str, ...]] = {
    "curl": ("-X", "--request", "-d", "--data", "-F", "--form", "-T", "--upload-file"),
    "find": ("-delete", "-exec", "-execdir", "-ok"),
    "sort": ("-o", "--output"),
}
"""Options with which these do more than look; long ones also as the beginning of a word."""
_LOOKING: dict[str, frozenset[str]] = {
    "git": _words(
        "blame cat-file describe diff grep log ls-files ls-tree rev-list rev-parse show status"
    ),
    "gh": _words("checks diff list status view"),
    "kubectl": _words("describe get logs top"),
    "docker": _words("images inspect logs ps"),
}
"""Programs that look with these subcommands."""
_HARMLESS_REDIRECTION = re.compile(r"\d?>\s*/dev/null|\d>&\d|&>\s*/dev/null")
_UNREADABLE = re.compile(
    r"\s*(?:exit code \d+\s+)?(?:/\S*/)?(?:ba|da|k|z)?sh: (?:-c: |eval: )?(?:line )?(?:\d+: )?"
    r"(?:syntax error|unexpected EOF|parse error)",
    re.IGNORECASE,
)
"""What shells say of a command line that they cannot parse; in a script its name stands too."""
_STOPPED = re.compile(r"\s*(?:exit code (?:124|137|143)\b|command timed out)", re.IGNORECASE)
_INLINE_SCRIPT = re.compile(
    r"\s*(?:cd\s+\S+\s*(?:&&|;)\s*)?(?:\S*/)?(?:python[\d.]*|node|ruby|perl)\s+(?:-\s*)?<<"
)
_SLEEP = re.compile(r"(?:^|[;&|]|\bdo)\s*sleep\s")
_LONGEST_LOOK = 2_000
"""Characters of a line; a longer one is a program."""
_PREFIXES = ("sudo", "command", "time", "!")


def verdict(error: str, limit: int = ERROR_LIMIT) -> str:
    """Return an error in one line without its progress, its end if it is longer than limit.

    Programs say at the end why they failed. An exit code at the beginning stays too.
    """
    code = _EXIT_CODE.match(error.lstrip()[:80])
    prefix = code[0].strip() if code else ""
    body = error.lstrip()[code.end() :] if code else error
    # A terminal shows of a line what follows the last carriage return.
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in body[-_READ:].split("\n")]
    telling = [line for line in lines if not _PROGRESS.fullmatch(line[:500])]
    text = " ".join(" ".join(telling if any(map(str.strip, telling)) else lines).split())
    room = limit - len(prefix) - 1
    text = text if len(text) <= room else "…" + text[-(room - 1) :]
    return f"{prefix} {text}".strip()


def is_answer(command: str, error: str) -> bool:
    """Say whether a command that ended with a code other than 0 only answered no.

    The last command of the line decides; those joined to it by `&&` must be harmless.
    """
    code = _EXIT_CODE.match(error.lstrip()[:80])
    if code is None or "cd: " in error:
        return False
    *before, last = _joined(command) or ("",)
    harmless = all(name in _QUESTIONS or name in _BESIDE for name in before)
    return harmless and int(code[1]) in _QUESTIONS.get(last, ())


def is_wrong_guess(command: str, error: str) -> bool:
    """Say whether a failed shell line is nothing to try again.

    That is a look; a line no shell could read, which did nothing and was written once more; a loop
    that waited until it was stopped; and a script in a heredoc, which is written anew.
    """
    is_wait = _STOPPED.match(error) is not None and _SLEEP.search(command) is not None
    is_unreadable = _UNREADABLE.match(error) is not None
    is_script = _INLINE_SCRIPT.match(command) is not None
    return is_wait or is_unreadable or is_script or only_looks(command)


def only_looks(command: str) -> bool:
    """Say whether a shell line only looks something up: a wrong guess there is no failure.

    Where that is unclear, as with loops and substitutions, it does not.
    """
    line = _HARMLESS_REDIRECTION.sub("", command)
    if not command or len(command) > _LONGEST_LOOK or "$(" in line or "`" in line:
        return False
    words: list[str] = []
    try:
        for word in (*_lexer(line, "|&;()<>"), ";"):
            if not set(word) <= set("|&;()<>"):
                words.append(word)
            elif set(word) & set("()<>") or not _looks(words):
                return False
            else:
                words = []
    except ValueError:
        return False
    return True


def _looks(words: list[str]) -> bool:
    while words and (words[0] in _PREFIXES or "=" in words[0].partition("/")[0]):
        words = words[1:]
    if not words:
        return True
    name = words[0].rpartition("/")[2]
    if name in _LOOKING:
        return _subcommand(name, words[1:]) in _LOOKING[name]
    changes = _CHANGES.get(name, ())
    return name in _LOOKS and not any(word.startswith(changes) for word in words[1:] if changes)


def _subcommand(name: str, words: list[str]) -> str:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in ("-C", "-c", "-n") else words[1:]
    place = 1 if name == "gh" else 0  # as in `gh pr view`
    return words[place] if len(words) > place else ""


def _lexer(command: str, punctuation: str) -> shlex.shlex:
    import shlex

    text = command.strip().replace("\n", " ; ")
    lexer = shlex.shlex(text, posix=True, punctuation_chars=punctuation)
    lexer.whitespace_split = True
    return lexer


def _joined(command: str) -> list[str]:
    """Return the programs on which the exit code depends, by name; none where that is unclear."""
    lexer = _lexer(command, "|&;()")
    names: list[str] = []
    begins = True
    try:
        for word in lexer:
            if word in ("|", ";", "|&"):
                names, begins = [], True
            elif word == "&&":
                begins = True
            elif set(word) <= set("|&;()"):
                return []
            elif begins and word not in _PREFIXES and "=" not in word.partition("/")[0]:
                names.append(word.rpartition("/")[2])
                begins = False
    except ValueError:
        return []
    return names
