"""How a tool call ended: what of its error is kept, and whether it failed at all."""

from __future__ import annotations

import re

from gitguard.model.shell.programs import LONGEST, deciding_commands, is_plain_step, started_program
from gitguard.model.shell.scanner import SimpleCommand, commands_of, is_descriptor, read_line
from gitguard.model.text import late_pattern

ERROR_LIMIT = 400
"""The most characters of an error that are kept."""
_READ = 64 << 10
"""Characters of an error's end that are looked at."""
_EXIT_CODE = late_pattern(r"exit code (\d{1,3})\b:?\s*", re.IGNORECASE)
_PROGRESS = late_pattern(
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
_UNREADABLE = late_pattern(
    r"\s*(?:exit code \d+\s+)?(?:/\S*/)?(?:ba|da|k|z)?sh: (?:-c: |eval: )?(?:line )?(?:\d+: )?"
    r"(?:syntax error|unexpected EOF|parse error)",
    re.IGNORECASE,
)
"""What shells say of a command line that they cannot parse; in a script its name stands too."""
_STOPPED = late_pattern(r"\s*(?:exit code (?:124|137|143)\b|command timed out)", re.IGNORECASE)
_SCRIPTED = ("python", "node", "ruby", "perl")
"""How programs begin that agents hand a script in a here-document."""
_LONGEST_LOOK = 2_000
"""Characters of a line; a longer one is a program."""


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


def has_not_started(error: str) -> bool:
    """Say whether a shell did not find a program that it was to run, or could not start it."""
    code = _EXIT_CODE.match(error.lstrip()[:80])
    return code is not None and code[1] in ("126", "127")


def is_answer(command: str, error: str) -> bool:
    """Say whether a command that ended with a code other than 0 only answered no.

    The last command of the line decides; those joined to it by `&&` must be harmless.
    """
    code = _EXIT_CODE.match(error.lstrip()[:80])
    if code is None or "cd: " in error:
        return False
    deciding = deciding_commands(read_line(command[:LONGEST]))
    programs = [started_program(simple.words, simple) for simple in deciding]
    *before, last = [program.name for program in programs if program and program.name] or ("",)
    harmless = all(name in _QUESTIONS or name in _BESIDE for name in before)
    return harmless and int(code[1]) in _QUESTIONS.get(last, ())


def is_wrong_guess(command: str, error: str) -> bool:
    """Say whether a failed shell line is nothing to try again.

    That is a look; a line no shell could read, which did nothing and was written once more; a loop
    that waited until it was stopped; and a script in a heredoc, which is written anew.
    """
    if _UNREADABLE.match(error):
        return True
    commands = commands_of(command[:LONGEST])
    is_wait = _STOPPED.match(error) is not None and any(
        simple.words[:1] == ["sleep"] for simple in commands
    )
    return is_wait or _is_inline_script(commands) or only_looks(command)


def _is_inline_script(commands: list[SimpleCommand]) -> bool:
    """Say whether the first command, a `cd` aside, is an interpreter with a here-document."""
    first = next((simple for simple in commands if simple.words[:1] != ["cd"]), None)
    if first is None or not any(operator[:2] == "<<" for operator, _ in first.redirections):
        return False
    words = [word for word in first.words if word != "-"]
    return len(words) == 1 and words[0].rpartition("/")[2].startswith(_SCRIPTED)


def only_looks(command: str) -> bool:
    """Say whether a shell line only looks something up: a wrong guess there is no failure.

    Where that is unclear, as with loops and substitutions, it does not.
    """
    if not command or len(command) > _LONGEST_LOOK:
        return False
    line = read_line(command)
    return line.is_complete and all(
        is_plain_step(simple) and all(map(_is_harmless, simple.redirections)) and _looks(simple)
        for simple in line.commands
    )


def _is_harmless(redirection: tuple[str, str]) -> bool:
    operator, target = redirection
    return operator[:1] != "<" and (
        target == "/dev/null" or (operator == ">&" and is_descriptor(target))
    )


def _looks(command: SimpleCommand) -> bool:
    program = started_program(command.words, command)
    if program is None or not program.name:
        return True  # assignments alone, or `command -v`
    name, words = program.name, program.words
    if name in _LOOKING:
        subcommand = words[1:2] if name == "gh" else [program.subcommand]  # as in `gh pr view`
        return not _LOOKING[name].isdisjoint(subcommand)
    changes = _CHANGES.get(name, ())
    return name in _LOOKS and not any(word.startswith(changes) for word in words if changes)
