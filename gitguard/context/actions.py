"""What a tool call is about to do, as far as its command says.

Shell text cannot be understood for certain without running it. This reads words, not meaning: good
enough to save a checkpoint before `rm -rf`, and to keep an agent from typing the commands that
belong to a human; no sandbox.
"""

from __future__ import annotations

OWNER_COMMANDS = ("override", "trust", "accept", "purge")
"""Commands that only a human may run (DESIGN section 4, halt)."""
COMPACTED = "--compacted"
"""Of `gate`: for programs without a host, since it ends a halt."""
_SEPARATORS = str.maketrans(dict.fromkeys(";&|(){}`", "\n"))
_QUOTES = str.maketrans(dict.fromkeys("\"'\\", " "))
_OPTIONS_WITH_VALUE = ("--root", "--session", "--host-session")


def destructive_rule(command: str, rules: tuple[str, ...]) -> str:
    """Return the rule by which a shell command is destructive, empty if none matches."""
    for words in _simple_commands(command):
        for rule in rules:
            if _matches(rule.split(), words):
                return rule
    return ""


def owner_command(command: str) -> str:
    """Return the human-only gitguard command that a shell command runs, empty if none."""
    if "gitguard" not in command:
        return ""
    for words in _simple_commands(command):
        names = [word.rpartition("/")[2] for word in words]
        if "gitguard" in names:
            arguments = words[names.index("gitguard") + 1 :]
            subcommand = _first_argument(arguments)
            if subcommand in OWNER_COMMANDS:
                return subcommand
            if subcommand == "gate" and COMPACTED in arguments:
                return f"gate {COMPACTED}"
    return ""


def _simple_commands(command: str) -> list[list[str]]:
    lines = command.replace("\\\n", " ").translate(_SEPARATORS).splitlines()
    return [words for line in lines if (words := line.translate(_QUOTES).split())]


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
    rest = iter(words)
    return all(any(_is(wanted, word) for word in rest) for wanted in rule)


def _is(wanted: str, word: str) -> bool:
    return any(_is_one(choice, word) for choice in wanted.split("|"))


def _is_one(choice: str, word: str) -> bool:
    if len(choice) == 2 and choice[0] == "-" and choice[1].isalpha():
        # A single-letter flag may stand in a cluster: -rf contains -r and -f.
        return word.startswith("-") and not word.startswith("--") and choice[1] in word
    if not choice.startswith("-"):
        word, choice = word.rpartition("/")[2].lower(), choice.lower()
    return word.startswith(choice[:-1]) if choice.endswith("*") else word == choice
