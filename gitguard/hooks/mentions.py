"""Whether a shell line only writes of commands, as a search or the message of a commit does.

`shell_commands` refuses an owner's command also in quotes, because most programs may run what they
are handed. The ones here do not. A line that is in doubt is none of these.
"""

from __future__ import annotations

_TEXT = frozenset(
    (
        *(
            "[",
            "cat",
            "cd",
            "cmp",
            "comm",
            "cut",
            "diff",
            "echo",
            "egrep",
            "false",
            "fgrep",
            "grep",
        ),
        *("head", "ls", "mkdir", "nl", "printf", "pwd", "rg", "tail", "tee", "test", "tr", "true"),
        *("uniq", "wc"),
    )
)
"""Programs that read and print text, or name files, and run no other program by themselves."""
_GIT = frozenset(("add", "blame", "commit", "diff", "grep", "log", "show", "status"))
"""Subcommands of git that do the same, without options in front of them."""
_RUNNING = ("-O", "--op", "--pre", "--hostname", "--ext-diff", "--textconv")
"""How options of these programs begin that may run another one; git takes shortened ones."""
_MESSAGE = "$(cat <<'"
"""How agents begin a message of several lines; its text is taken as it is."""


def only_mentions(line: str) -> bool:
    """Say whether no program of a line could run what another one is called in it."""
    # What a parenthesis begins, and what a backslash does in quotes, differs between shells.
    if any(mark in line.replace(_MESSAGE, "") for mark in ("(", "`", "\\'")):
        return False
    from gitguard.model.shell.programs import programs_of

    for program in programs_of(line):
        words = program.command.words
        # Nothing stands in front of the name: no variable for it, and no program that runs it.
        if words[:1] != [program.name] or any(word.startswith(_RUNNING) for word in words):
            return False
        if words[1:2] == ["grep"] and any(map(_has_pager, words)):
            return False
        is_text_of_git = program.name == "git" and not _GIT.isdisjoint(words[1:2])
        if program.name not in _TEXT and not is_text_of_git:
            return False
    return True


def _has_pager(option: str) -> bool:
    """Say whether a cluster of options has git's `-O`, as in `git grep -iOPROGRAM`."""
    flags, pager, _ = option.partition("O")
    return bool(pager) and flags[:1] == "-" and flags[1:].isalnum()
