"""What a tool call is about to do, as far as its command says.

Shell text cannot be understood for certain without running it. This reads words, not meaning: good
enough to save a checkpoint before `rm -rf`, and to keep an agent from typing the commands that
belong to a human; no sandbox.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

REPAIR = "repair"
OLD_REPAIRS = frozenset({"recover", "accept", "trust", "migrate"})
"""What `repair` was before; each chooses for the user, or did in an earlier version."""
OWNER_COMMANDS = OLD_REPAIRS | {"override", "purge"}
"""Commands that only a human may run (references/design/contract.md, "Halt")."""
XARGS = "xargs"
"""Reads arguments from its input, so that a command line does not show what it runs."""
COMPACTED = "--compacted"
"""Of `gate`: for programs without a host, since it ends a halt."""
UNTRUSTED = "--untrusted"
"""Of `restore`: takes what may be somebody else's."""
SAFE_REPAIRS = frozenset({"--local", "--dry-run", "--json", "-y", "--yes", "-h", "--help"})
"""What an agent may ask of `repair`; every other way out chooses for the user."""
_CREATING = (
    ["git", "switch", "-c|-C|--create|--force-create|--orphan"],
    ["git", "checkout", "-b|-B|--orphan"],
    ["git", "branch"],
)
"""Words in a simple command that creates the branch that it names as well."""
_SEPARATORS = str.maketrans(dict.fromkeys(";&|(){}`", "\n"))
_QUOTES = str.maketrans(dict.fromkeys("\"'\\", " "))
_SUBSTITUTES = str.maketrans(dict.fromkeys("$`{}()", " "))
_NO_QUOTES = str.maketrans(dict.fromkeys("\"'\\\n"))
_OPTIONS_WITH_VALUE = ("--root", "--session", "--host-session")
_PROGRAM = "gitguard"
_NEVER_PLAIN = frozenset(";&|<>(){}`$\n\r\0")
"""Outside of quotes these join, redirect, group or substitute, or end a command."""
_LONGEST = 1 << 17
"""Characters of a command that are taken apart; Linux starts no shell with a longer one."""
_NEVER_IN_DOUBLE = frozenset("`$\0")


def destructive_rule(command: str, rules: tuple[str, ...]) -> str:
    """Return the rule by which a shell command is destructive, empty if none matches."""
    for words in _simple_commands(command):
        for rule in rules:
            if _matches(rule.split(), words):
                return rule
    return ""


def creates_branch(command: str, branch: str) -> bool:
    """Say whether a shell command creates a branch, as far as its words tell."""
    return any(
        branch in words and any(_matches(rule, words) for rule in _CREATING)
        for words in _simple_commands(command)
    )


def owner_command(command: str) -> str:
    """Return the human-only gitguard command that a shell command runs, empty if none.

    A command inside of a quoted text counts where that text may be run, as in `sh -c '…'`.
    """
    joined = command.translate(_NO_QUOTES)
    if _PROGRAM not in joined.lower():
        return ""
    for words in _simple_commands(command):
        places = _places_of_program(words)
        if places and (owner := _owner_among(words[places[0] + 1 :])):
            return owner
    # Here a text in quotes is one word, so that every mention of the program can be looked at.
    for words in _joined_commands(command):
        for place in _places_of_program(words):
            if owner := _owner_among(words[place + 1 :]):
                return owner
            if _hidden_by_xargs(words, place):
                return XARGS
    return ""


def _hidden_by_xargs(words: list[str], place: int) -> bool:
    """Say whether `xargs` reads from its input which command the program is to run."""
    subcommand = _first_argument(words[place + 1 :])
    for at, word in enumerate(words[:place]):
        if word.rpartition("/")[2] == XARGS:
            options = words[at + 1 : place]
            return subcommand in ("", *options, *(option[2:] for option in options))
    return False


def _places_of_program(words: list[str]) -> list[int]:
    return [
        place
        for place, word in enumerate(words)
        # The last part of a word, for `"$(which gitguard)"` is one word.
        if word.rstrip().rpartition(" ")[2].rpartition("/")[2].lower()
        in (_PROGRAM, f"{_PROGRAM}.exe")
    ]


def _owner_among(arguments: list[str]) -> str:
    subcommand = _first_argument(arguments)
    if subcommand in OWNER_COMMANDS:
        return subcommand
    if subcommand == REPAIR and not _is_safe_repair(arguments):
        return subcommand
    if subcommand == "gate" and COMPACTED in arguments:
        return f"gate {COMPACTED}"
    if subcommand == "restore" and UNTRUSTED in arguments:
        return f"restore {UNTRUSTED}"
    return ""


def _is_safe_repair(arguments: list[str]) -> bool:
    """Say whether a repair changes nothing, or only puts back what this machine wrote.

    A word that could be another option's value, or begin a comment, makes it unsafe.
    """
    options = _without_redirections(arguments[arguments.index(REPAIR) + 1 :])
    return SAFE_REPAIRS.issuperset(options) and not {"--local", "--dry-run"}.isdisjoint(options)


def _without_redirections(words: list[str]) -> list[str]:
    """Leave out `2>` and its target, as `>file`, `> file` or cut off before `&1`.

    A quoted `>` is left out as well; `repair` takes no operand, so it ends with an error then.
    """
    remaining: list[str] = []
    is_target = False
    for word in words:
        operator = word.lstrip("0123456789")
        if not is_target and not operator.startswith((">", "<")):
            remaining.append(word)
        is_target = not is_target and operator in (">", ">>", "<", "<<", "<<<")
    return remaining


def own_command(command: str, program: str, path: str) -> str:
    """Return the subcommand where a shell command is one simple command of our program, else "".

    program is the installed program's path, path the folders in which a shell looks for one. With
    an operator, a redirection, a substitution or an assignment it is no simple command any more.
    """
    words = _plain_words(command)
    if not words or not _is_our_program(words[0], program, path):
        return ""
    return _first_argument(words[1:])


def _is_our_program(word: str, program: str, path: str) -> bool:
    if word == _PROGRAM:
        if not program:
            return True
        word = next(filter(os.path.exists, (f"{f}/{word}" for f in path.split(":") if f)), "")
    try:
        return os.path.isabs(word) and bool(program) and os.path.samefile(word, program)
    except OSError:
        return False


def _plain_words(command: str) -> list[str]:
    """Split a command as a shell does; return no words where it could be more than one command.

    A shell that reads quotes in another way finds no more in it: a backslash before the end of a
    single-quoted text is refused as well.
    """
    words: list[str] = []
    word: str | None = None
    characters = iter(command.strip())
    for c in characters:
        if c in " \t":
            words += [] if word is None else [word]
            word = None
            continue
        part = _part(c, characters)
        if part is None:
            return []
        word = (word or "") + part
    return words if word is None else [*words, word]


def _part(c: str, following_characters: Iterator[str]) -> str | None:
    """Return what a character or a quoted text adds to a word; None where it is not plain."""
    if c in _NEVER_PLAIN:
        return None
    if c == "\\":
        following = next(following_characters, "")
        return following if following.isprintable() and following else None
    if c == "'":
        return _quoted(following_characters, c)
    return _quoted(following_characters, c) if c == '"' else c


def _quoted(characters: Iterator[str], mark: str) -> str | None:
    text = ""
    for c in characters:
        if c == mark:
            return None if text.endswith("\\") and mark == "'" else text
        if c == "\0" or (mark == '"' and c in _NEVER_IN_DOUBLE):
            return None
        if c == "\\" and mark == '"':
            c = next(characters, "\0")
            if c == "\0":
                return None
        text += c
    return None


def _simple_commands(command: str) -> list[list[str]]:
    lines = command.replace("\\\n", " ").translate(_SEPARATORS).splitlines()
    return [words for line in lines if (words := line.translate(_QUOTES).split())]


def _joined_commands(command: str) -> list[list[str]]:
    """Split a command into simple ones, the quoted and escaped parts of a word put together.

    Redirections are left out. What is substituted counts as part of the command around it, so that
    `$(which gitguard) trust` reads as `which gitguard trust`.
    """
    import re
    import shlex

    text = re.sub(r"(?<!\S)\d+(?=[<>])", "", command[:_LONGEST].replace("\\\n", ""))
    tokens = shlex.shlex(
        text.replace("\n", " ; ").translate(_SUBSTITUTES), posix=True, punctuation_chars=";<>|&"
    )
    tokens.whitespace_split, tokens.commenters = True, ""
    commands: list[list[str]] = [[]]
    is_target = False
    try:
        for token in tokens:
            is_operator = bool(token) and not token.strip(";<>|&")
            if is_operator and not set(token) & set("<>"):
                commands.append([])
            elif not is_operator and not is_target:
                commands[-1].append(token)
            is_target = is_operator and bool(set(token) & set("<>"))
    except ValueError:
        pass  # a quote that is not closed: no shell runs what follows it
    return commands


def _first_argument(words: list[str]) -> str:
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _OPTIONS_WITH_VALUE:
            skip = True
        elif not word.startswith("-"):
            return word
    return ""


def _matches(rule: list[str], words: list[str]) -> bool:
    # One iterator for all patterns: each goes on behind the word that matched the one before, so
    # the words of a rule have to occur in its order.
    remaining = iter(words)
    return all(any(_is(pattern, word) for word in remaining) for pattern in rule)


def _is(pattern: str, word: str) -> bool:
    return any(_is_one(choice, word) for choice in pattern.split("|"))


def _is_one(choice: str, word: str) -> bool:
    if len(choice) == 2 and choice[0] == "-" and choice[1].isalpha():
        # A single-letter flag may stand in a cluster: -rf contains -r and -f.
        return word.startswith("-") and not word.startswith("--") and choice[1] in word
    if not choice.startswith("-"):
        word, choice = word.rpartition("/")[2].lower(), choice.lower()
    return word.startswith(choice[:-1]) if choice.endswith("*") else word == choice
