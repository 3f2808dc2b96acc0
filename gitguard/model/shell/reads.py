"""Whether a shell line shows what stands in the files that it names."""

from __future__ import annotations

from gitguard.model.shell.programs import programs_of

_SHOWING = frozenset(
    (
        *(
            "awk",
            "bat",
            "batcat",
            "cat",
            "diff",
            "egrep",
            "fgrep",
            "gawk",
            "grep",
            "head",
            "hexdump",
        ),
        *("jq", "less", "more", "nl", "od", "pr", "rg", "sed", "tac", "tail", "xxd", "yq"),
    )
)
_SHOWING_GIT = frozenset(("blame", "diff", "grep", "show"))
_IN_PLACE = ("-i", "--in-place")


def shows_files(line: str) -> bool:
    """Say whether a program of the line prints files that it is given, and writes none."""
    for program in programs_of(line):
        if program.name == "git" and program.subcommand in _SHOWING_GIT:
            return True
        if program.name in _SHOWING and not any(w.startswith(_IN_PLACE) for w in program.words):
            return True
    return False
