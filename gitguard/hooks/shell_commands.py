"""What a tool call is about to do, as far as its command says.

Shell text cannot be understood for certain without running it. This reads words, not meaning: good
enough to keep an agent from typing the commands that belong to a human; no sandbox. What it cannot
see is listed in references/guides/security.md. `model/shell/destructive.py` knows what destroys.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REPAIR = "repair"
HOOK = "hook"
"""The command by which the host speaks; who runs it in a tool call speaks in the host's name."""
OWNER_COMMANDS = frozenset({HOOK, "override", "pin", "publish", "purge", "uninstall"})
"""Commands that no tool call may run (references/design/contract.md, "Halt")."""
HIDDEN = "hidden"
"""Stands for a subcommand that the words of a command do not show: `gitguard $c`, `xargs`."""
COMPACTED = "--compacted"
"""Of `gate`: for programs without a host, since it ends a halt."""
RESTORES_OF_A_PERSON = frozenset(
    {"--untrusted", "--files", "--undo", "--theirs-too", "--to", "--force"}
)
"""Of `restore`: takes what may be somebody else's, or changes files."""
DELETE = "--delete"
"""Of `session maintain`: deletes what is archived."""
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
_LISTS = str.maketrans(dict.fromkeys("[],", " "))
"""A script in quotes may give the words of a command as a list."""
_SUBSTITUTES = str.maketrans(dict.fromkeys("$`{}()", " "))
_NO_QUOTES = str.maketrans(dict.fromkeys("\"'\\\n"))
_OPTIONS_WITH_VALUE = ("--root", "--session", "--host-session")
_PROGRAM = "gitguard"
_MODULE = "__main__.py"
"""The file by which Python runs a folder; it may stand behind the folder's name or not."""
_EXPANDED = frozenset("$`{*?[")
"""A shell puts other words in place of a word with one of these."""
_NAMES = frozenset({_PROGRAM, f"{_PROGRAM}.exe", f"-m{_PROGRAM}"})
"""The program as the last part of a word; Python takes its module with or without a blank."""
_READING_ARGUMENTS = frozenset({"xargs", "parallel"})
"""Programs that read from their input or from later words which arguments another one gets."""
_RUNNING_ANOTHER = frozenset(
    ("builtin", "command", "doas", "env", "exec", "nohup", "sudo", "time", "timeout", "which")
) | {"do", "else", "eval", "function", "then"}
"""Words before a program that runs; Python, with a version in its name, comes on top."""
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-/:=,+@%"
"""None of these joins commands, redirects output, quotes or substitutes."""
_UNLISTED = frozenset(
    (
        *("cat", "cd", "cut", "df", "dirname", "du", "echo", "egrep", "file", "grep", "head", "ls"),
        *("node", "pwd", "pytest", "python", "python3", "rg", "stat", "tail", "uname", "wc"),
        *("which", "whoami"),
    )
)
"""Programs that `model/shell/destructive.py` does not list; Python runs listed ones by `-m`."""
_NEVER_PLAIN = frozenset(";&|<>(){}`$\n\r\0")
"""Outside of quotes these join, redirect, group or substitute, or end a command."""
_LONGEST = 1 << 17
"""Characters of a command that are taken apart; Linux starts no shell with a longer one."""
_NEVER_IN_DOUBLE = frozenset("`$\0")


def is_plainly_harmless(command: str) -> bool:
    """Say whether a command is a program that the table does not list, with plain words behind it.

    Many are, and need no parser to be told from destructive ones.
    """
    if command.strip(_PLAIN):
        return False
    words = command.split(None, 2)
    return not words or (words[0] in _UNLISTED and words[1:2] != ["-m"])


def destructive_rule(command: str, rules: tuple[str, ...]) -> str:
    """Return which of the user's own rules calls a shell command destructive, empty if none."""
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
    if len(command) > _LONGEST:
        return HIDDEN  # what is not read may be such a command
    simple, joined_commands = _simple_commands(command.translate(_LISTS)), _joined_commands(command)
    aliases = _aliases([*simple, *joined_commands])
    for words in simple:
        places = _places_of_program(words, aliases)
        if places and (owner := _owner_among(words[places[0] + 1 :])):
            return owner
    # Here a text in quotes is one word, so that every mention of the program can be looked at.
    for words in joined_commands:
        places = _places_of_program(words, aliases)
        for place in places:
            if owner := _owner_among(words[place + 1 :]):
                return owner
        if _reads_subcommand(words, places):
            return HIDDEN
    return HIDDEN if _substitutes_subcommand(command, aliases) else ""


def _aliases(commands: list[list[str]]) -> frozenset[str]:
    """Return the names that commands give the program: aliases and variables, as `g=gitguard`."""
    assignments = [word.partition("=") for words in commands for word in words if "=" in word]
    return frozenset(
        name
        for name, _, value in assignments
        if name.isidentifier() and value and _is_program(value.split()[0])
    )


def _reads_subcommand(words: list[str], places: list[int]) -> bool:
    """Say whether `xargs` or `parallel` reads which command the program is to run."""
    readers = (at for at, w in enumerate(words) if w.rpartition("/")[2] in _READING_ARGUMENTS)
    at = next(readers, len(words))
    names = {""}  # of what stands for the words that are read
    for place in places:
        if place < at:
            continue
        names.update(words[at + 1 : place])
        names.update(option[2:] for option in words[at + 1 : place])
        at = place - 1
        subcommand = _first_argument(words[place + 1 :])
        if subcommand in names or subcommand.startswith(":::"):
            return True
    return False


def _substitutes_subcommand(command: str, aliases: frozenset[str]) -> bool:
    """Say whether a shell substitutes which command the program runs, as in `gitguard $c`."""
    for words in _split(command):
        bare = [word.strip("(){}`") for word in words]
        expanded = [
            not _EXPANDED.isdisjoint(_first_argument(words[place + 1 :]))
            for place in _places_of_program(bare, aliases)
        ]
        # `gitguard${IFS}hook` is one word here, and two where it runs.
        expanded += [_is_program(word.partition("$")[0]) for word in words if "$" in word]
        if any(expanded) and (_runs_program(words, aliases) or _reads_arguments(bare)):
            return True
        scripts = [word for word in words if " " in word.strip()] if _runs_scripts(words) else []
        if any(_substitutes_subcommand(script, aliases) for script in scripts):
            return True
    return False


def _reads_arguments(words: list[str]) -> bool:
    return any(word.rpartition("/")[2] in _READING_ARGUMENTS for word in words)


def _runs_program(words: list[str], aliases: frozenset[str]) -> bool:
    """Say whether a simple command begins with the program, or with what may run it."""
    for word in words:
        bare = word.strip("$(){}`!")
        if bare and "()" not in word and not _is_assignment(bare):
            is_runner = bare in _RUNNING_ANOTHER or bare.startswith("python")
            return is_runner or bool(_places_of_program([bare.partition("$")[0]], aliases))
    return False


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _runs_scripts(words: list[str]) -> bool:
    return "eval" in words or any(w.startswith("-") and w.endswith("c") for w in words)


def _places_of_program(words: list[str], aliases: frozenset[str]) -> list[int]:
    return [
        place
        for place, word in enumerate(words)
        if _is_program(word) or word.strip(" ${}") in aliases
    ]


def _is_program(word: str) -> bool:
    # The last part of a word, for `"$(which gitguard)"` is one word.
    path = word.rstrip().rpartition(" ")[2].removesuffix(_MODULE).rstrip("/")
    return path.rpartition("/")[2].lower() in _NAMES


def _owner_among(arguments: list[str]) -> str:
    subcommand = _first_argument(arguments)
    if subcommand in OWNER_COMMANDS:
        return subcommand
    if subcommand == REPAIR and not _is_safe_repair(arguments):
        return subcommand
    if subcommand == "gate" and COMPACTED in arguments:
        return f"gate {COMPACTED}"
    if subcommand == "session" and any(word.startswith(DELETE) for word in arguments):
        return f"session maintain {DELETE}"
    if subcommand == "restore":
        named = [word for word in arguments if word.partition("=")[0] in RESTORES_OF_A_PERSON]
        if named:
            return f"restore {named[0]}"
        # A word behind the checkpoint is the path of a file.
        _, *checkpoint_and_paths = _arguments(_without_redirections(arguments))
        return "restore PATH" if len(checkpoint_and_paths) > 1 else ""
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
    `$(which gitguard) purge` reads as `which gitguard purge`.
    """
    return _split(command[:_LONGEST].translate(_SUBSTITUTES))


def _split(command: str) -> list[list[str]]:
    """Split a command as `_joined_commands` does; what is substituted stays as it is written."""
    import re
    import shlex

    text = re.sub(r"(?<!\S)\d+(?=[<>])", "", command[:_LONGEST].replace("\\\n", ""))
    tokens = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=";<>|&")
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
    return next(iter(_arguments(words)), "")


def _arguments(words: Iterable[str]) -> Iterator[str]:
    """Yield the words that are neither options nor the values of options."""
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _OPTIONS_WITH_VALUE:
            skip = True
        elif not word.startswith("-"):
            yield word


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
