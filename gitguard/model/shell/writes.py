"""Which paths a shell line writes, moves or deletes, as far as its words tell.

`_TABLE` says which operands of a program it changes. What a line hides, such as a script that lies
in a file, it does not show; references/guides/security.md names that limit.
"""

from __future__ import annotations

from gitguard.model.shell.programs import (
    UNREAD,
    VALUES,
    Arguments,
    ShellProgram,
    behind_operands,
    programs_of,
)
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gitguard.model.shell.scanner import SimpleCommand

_EACH, _LAST, _MOVED, _IN_PLACE, _VALUE = "each", "last", "moved", "in-place", "value"
_ARCHIVERS = ("tar", "bsdtar", "gtar")
_COMPRESSORS = ("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "unlzma")
"""Programs that put another file in a file's place, unless an option says that they only read."""
_TABLE: dict[str, tuple[str, str]] = {
    # program: which operands it changes, and its options with a value, or those that name a file
    **dict.fromkeys(("rm", "rmdir", "unlink", "shred", "srm", "trash", "trash-put"), (_MOVED, "")),
    **dict.fromkeys(("tee", "sponge", "mkdir", "mkfifo", "touch", "truncate"), (_EACH, "")),
    **dict.fromkeys(("chmod", "chown", "chgrp", "chattr", "setfacl", "ln", "link"), (_EACH, "")),
    **dict.fromkeys(("ed", "ex", "vi", "vim", "nvim", "nano", "emacs", "micro"), (_EACH, "")),
    **dict.fromkeys(("patch", "mount", "umount", "unzip", "crudini"), (_EACH, "")),
    **dict.fromkeys(("cp", "install", "rsync", "scp", "ditto", "rename"), (_LAST, "")),
    "mv": (_MOVED, ""),
    **dict.fromkeys(("sed", "gsed", "perl", "ruby", "awk", "gawk", "yq"), (_IN_PLACE, "")),
    "dd": (_VALUE, "of="),
    "curl": (_VALUE, "-o --output --output-dir"),
    "wget": (_VALUE, "-O --output-document -P --directory-prefix"),
    **dict.fromkeys(_ARCHIVERS, (_VALUE, "-C --directory -f --file")),
    **dict.fromkeys(_COMPRESSORS, (_MOVED, "")),
    "sort": (_VALUE, "-o --output"),
    "git": (_VALUE, "-C --work-tree --git-dir -f --file -o --output"),
}
_MODES = frozenset(("chmod", "chown", "chgrp", "chattr", "setfacl"))
_CHDIR = ("-C", "-D", "--chdir")
_TARGET = ("-t", "--target-directory")
_INTO = {"git": ("clone", "init", "worktree")}
_ONLY_READING = ["-c", "--stdout", "--to-stdout", "-k", "--keep", "-l", "--list", "-t", "--test"]
_IN_PLACE_OPTIONS = ["-i", "--in-place", "--inplace", "-i*"]
_READING_GIT = frozenset(("diff", "log", "show", "status", "grep", "blame", "rev-parse"))
_SENDING = frozenset(("add", "commit", "push", "tag"))
"""Subcommands of git that end a piece of work."""


class WrittenPath(Value):
    """A path that a line changes, as it is written there."""

    path: str
    by: str = ""
    """The program that changes it; empty for a redirection."""
    moves: bool = False
    """Whether what lies there is moved or deleted, with all below it."""
    ends_work: bool = False
    """Whether only `git commit` and the like write there, or what they print goes there."""


class ShellWrites(Value):
    """What a line changes, and where it goes."""

    paths: tuple[WrittenPath, ...] = ()
    folders: tuple[str, ...] = ()
    """Folders that it works in, one after the other, beside the one in which it begins."""
    mentioned: tuple[str, ...] = ()
    """Every word of it."""
    is_hidden: bool = False
    """Whether input names what a program changes, as in `xargs rm`, or it was not all read."""


def writes_of(line: str) -> ShellWrites:
    """Return what a shell line writes, moves and deletes."""
    paths: list[WrittenPath] = []
    folders: list[str] = []
    words: list[str] = []
    is_hidden = False
    ending_work: dict[SimpleCommand, bool] = {}
    for program in programs_of(line):
        command = program.command
        if command not in ending_work:  # `find` runs many programs in one command
            ending_work[command] = _ends_work(command, ending_work)
            words += (*command.words, *command.written, *program.input.split())
            paths += [WrittenPath(p, ends_work=ending_work[command]) for p in command.written]
        words += program.words
        if program.name == UNREAD:
            is_hidden = True
        elif program.name == "for" and program.words[1:2] == ["in"]:
            words += [f"{program.words[0]}={value}" for value in program.words[2:]]
        elif program.name in ("cd", "pushd"):
            operands = Arguments(program.words, frozenset(), is_repeated=False).operands
            folders += operands[:1] or ["~"]
        else:
            folders += _option_values(program.before, _CHDIR)  # `env -C`, `sudo -D`
            paths += [p.replace(ends_work=ending_work[command]) for p in _changed(program)]
            is_hidden |= program.is_repeated and program.name in _TABLE
            is_hidden |= program.name == "find" and "-delete" in program.words
    return ShellWrites(tuple(paths), tuple(folders), tuple(words), is_hidden)


def _ends_work(command: SimpleCommand | None, answers: Mapping[SimpleCommand, bool]) -> bool:
    """Say whether a command is `git commit` or the like, or what it prints is piped into it.

    answers has the answer for commands that were met before.
    """
    while command is not None:
        if command in answers:
            return answers[command]
        words = command.words
        if words[:1] == ["git"]:
            subcommand = behind_operands(words[1:], VALUES["git"], 0)[:1]
            return not _SENDING.isdisjoint(subcommand)
        command = command.feeder
    return False


def _changed(program: ShellProgram) -> Iterator[WrittenPath]:
    name, words = program.name, program.words
    if name == "find" and "-delete" in words:
        yield from (WrittenPath(word, name, moves=True) for word in words if word[:1] != "-")
    if name not in _TABLE:
        return
    how, options = _TABLE[name]
    if how == _VALUE:
        values = (*_values(program, options.split()), *_cloned_into(name, words))
        yield from (WrittenPath(value, name) for value in values)
        return
    arguments = Arguments(words, frozenset(VALUES.get(name, "").split()), is_repeated=False)
    operands = arguments.operands
    if how == _IN_PLACE and not arguments.option_among(_IN_PLACE_OPTIONS):
        return
    if name in _COMPRESSORS and arguments.option_among(_ONLY_READING):
        return
    if name == "cp" and arguments.option_among(["-l", "--link", "-s", "--symbolic-link"]):
        how = _EACH  # whoever writes the new name changes the file, as with `ln`
    if how in (_EACH, _IN_PLACE) or (how == _MOVED and name != "mv"):
        # What is changed with all below it counts like what is moved.
        moves = how == _MOVED or (
            name in _MODES and bool(arguments.option_among(["-R", "--recursive"]))
        )
        yield from (WrittenPath(operand, name, moves=moves) for operand in operands)
    if how == _LAST or name in ("mv", "ln"):
        yield from _into_target(name, words, operands)


def _into_target(name: str, words: list[str], operands: list[str]) -> Iterator[WrittenPath]:
    """Yield the target of a program that puts files into it, and the files that it moves."""
    targets = [*_option_values(words, _TARGET)]
    sources = operands if targets else operands[:-1]
    for target in targets or operands[-1:]:
        yield WrittenPath(target, name)
        for source in sources:
            yield WrittenPath(f"{target}/{source.rstrip('/').rpartition('/')[2]}", name)
    if name == "mv":
        yield from (WrittenPath(source, name, moves=True) for source in sources)


def _values(program: ShellProgram, options: list[str]) -> Iterable[str]:
    """Return the files and folders that options name to a program that changes them."""
    name, words = program.name, program.words
    if name == "git" and not _READING_GIT.isdisjoint(words):
        return ()
    if name in _ARCHIVERS and not _extracts(words):
        return _option_values(words, ("-f", "--file"))
    if options == ["of="]:
        return [word[3:] for word in words if word.startswith("of=")]
    return _option_values(words, options)


def _extracts(words: list[str]) -> bool:
    """Say whether `tar` extracts: in a cluster of options, of which the first needs no dash."""
    clusters = [word for word in words if word[:1] == "-" and word[:2] != "--"]
    clusters += [word for word in words[:1] if word[:1] != "-"]
    is_long = not {"--extract", "--get"}.isdisjoint(words)
    return is_long or any("x" in letters for letters in clusters)


def _cloned_into(name: str, words: list[str]) -> list[str]:
    operands = [word for word in words if word[:1] != "-"]
    return operands[-1:] if operands[:1] and operands[0] in _INTO.get(name, ()) else []


def _option_values(words: list[str], names: Iterable[str]) -> Iterator[str]:
    """Yield the values of options: `-o x`, `-ox`, `--output x` and `--output=x`."""
    for at, word in enumerate(words):
        for name in names:
            if word == name:
                yield from words[at + 1 : at + 2]
            elif name[:2] == "--" and word.startswith(f"{name}="):
                yield word[len(name) + 1 :]
            elif name[:2] != "--" and word.startswith(name):
                yield word[len(name) :]
            elif name[:2] != "--" and word[:1] == "-" and word[-1:] == name[1] and word[:2] != "--":
                yield from words[at + 1 : at + 2]
