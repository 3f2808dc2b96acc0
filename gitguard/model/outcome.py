"""How a tool call ended: what of its error is kept, and whether it failed at all."""

from __future__ import annotations

import re

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


def _joined(command: str) -> list[str]:
    """Return the programs on which the exit code depends, by name; none where that is unclear."""
    import shlex

    lexer = shlex.shlex(command.strip().replace("\n", " ; "), posix=True, punctuation_chars="|&;()")
    lexer.whitespace_split = True
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
