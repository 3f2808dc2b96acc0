"""What a tool call is about to do, as far as its command says.

Shell text cannot be understood for certain without running it. This reads words, not meaning: good
enough to keep an agent from typing the commands that belong to a human; no sandbox. What it cannot
see is listed in references/guides/security.md. `model/shell/destructive.py` knows what destroys.
Code that a line hands to an interpreter is read in the same way.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.model.shell.programs import ShellProgram
    from gitguard.model.shell.scanner import ShellLine, SimpleCommand

REPAIR = "repair"
HOOK = "hook"
"""The command by which the host speaks; who runs it in a tool call speaks in the host's name."""
OWNER_COMMANDS = frozenset({HOOK, "override", "pin", "publish", "purge", "trust", "uninstall"})
"""Commands that no tool call may run (references/design/contract.md, "Halt")."""
HIDDEN = "hidden"
"""Stands for a subcommand that the words of a command do not show: `gitguard $c`, `xargs`."""
COMPACTED = "--compacted"
"""Of `gate`: for programs without a host, since it ends a halt."""
RESTORES_OF_A_PERSON = frozenset(
    {"--untrusted", "--files", "--undo", "--theirs-too", "--to", "--force"}
)
"""Of `restore`: takes what another machine may have written, or changes files."""
SYNC_OF_A_PERSON = frozenset({"--trust", "--yes", "-y"})
"""Of `sync`: says whose words count, or lets sessions leave for a remote for the first time."""
DELETE = "--delete"
"""Of `session maintain`: deletes what is archived."""
SAFE_REPAIRS = frozenset({"--local", "--dry-run", "--json", "-y", "--yes", "-h", "--help"})
"""What an agent may ask of `repair`; every other way out chooses for the user."""
_NO_QUOTES = str.maketrans(dict.fromkeys("\"'\\"))
_QUOTES = str.maketrans(dict.fromkeys("\"'\\", " "))
_NO_NESTING = _QUOTES | str.maketrans(dict.fromkeys("(){}`", "\n"))
_LISTS = str.maketrans(dict.fromkeys("[]{},", " "))
"""A script in quotes may give the words of a command as a list, or in JSON."""
_SUBSTITUTES = str.maketrans(dict.fromkeys("`{}()", " "))
_BREAKING = frozenset(" \t\n;&|<>(){}$`'\"\\")
"""A word that has one of these, taken as a line of its own, has other words."""
_DEEPEST = 8
"""Texts in quotes inside of texts in quotes that are read."""
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
_MOST_NESTED = 1_000
"""Characters that a short line may have more, in words inside of words."""
_MOST = 1 << 20
"""Characters of a command and of the texts in it that are read in all."""
_LONGEST = 1 << 17
"""Characters of a command that are taken apart; Linux starts no shell with a longer one."""


_TEXT_PROGRAMS = frozenset(
    (
        *("[", "cat", "cd", "cmp", "comm", "cut", "diff", "echo", "egrep", "false", "fgrep"),
        *("grep", "head", "ls", "mkdir", "nl", "printf", "pwd", "rg", "tail", "tee", "test", "tr"),
        *("true", "uniq", "wc"),
    )
)
"""Programs that read and print text, or name files, and run no other program by themselves."""
_TEXT_OF_GIT = frozenset(("add", "blame", "commit", "diff", "grep", "log", "show", "status"))
"""Subcommands of git that do the same, without options in front of them."""
_RUNNING_OPTIONS = ("-O", "--op", "--pre", "--hostname", "--ext-diff", "--textconv")
"""How options of these programs begin that may run another one; git takes shortened ones."""
_BEGUN_MESSAGE = "$(cat <<'"
"""How agents begin a message of several lines; its text is taken as it is."""


def is_plainly_harmless(command: str) -> bool:
    """Say whether a command is a program that the table does not list, with plain words behind it.

    Many are, and need no parser to be told from destructive ones.
    """
    if command.strip(_PLAIN):
        return False
    program = "".join(command.split(None, 1)[:1])
    return not program or (
        program in _UNLISTED and not (program.startswith("python") and " -" in command)
    )


def owner_command(command: str) -> str:
    """Return the human-only gitguard command that a shell command runs, empty if none.

    A command inside of a quoted text counts, since most programs may run what they are handed.
    What cannot be read may be such a command.
    """
    if _PROGRAM not in command.replace("\\\n", "").translate(_NO_QUOTES).lower():
        return ""
    if len(command) > _LONGEST:
        return HIDDEN
    from gitguard.model.shell.scanner import read_line

    aliases: frozenset[str] = frozenset()
    lines: list[_CommandLine] = []
    texts, seen = {(command, True)}, set[tuple[str, bool]]()
    for _ in range(_DEEPEST):
        newest = [_CommandLine(read_line(text), text, runs=runs) for text, runs in texts]
        aliases = aliases.union(*(line.aliases() for line in newest))
        lines += newest
        seen |= texts
        texts = {text for line in newest for text in line.inner_texts(aliases)} - seen
        if sum(len(text) for text, _ in (*seen, *texts)) > _MOST:
            return HIDDEN
    owners = (line.owner_command(aliases) for line in lines)
    return next(filter(None, owners), HIDDEN if texts else "")


def only_mentions(line: str) -> bool:
    """Say whether a line only writes of commands, as a search or the message of a commit does.

    No program of it could run what another one is called in it. A line that is in doubt does more.
    """
    # What a parenthesis begins, and what a backslash does in quotes, differs between shells.
    if any(mark in line.replace(_BEGUN_MESSAGE, "") for mark in ("(", "`", "\\'")):
        return False
    from gitguard.model.shell.programs import programs_of

    for program in programs_of(line):
        words = program.command.words
        # Nothing stands in front of the name: no variable for it, and no program that runs it.
        if words[:1] != [program.name] or any(word.startswith(_RUNNING_OPTIONS) for word in words):
            return False
        if words[1:2] == ["grep"] and any(map(_has_pager, words)):
            return False
        is_text_of_git = program.name == "git" and not _TEXT_OF_GIT.isdisjoint(words[1:2])
        if program.name not in _TEXT_PROGRAMS and not is_text_of_git:
            return False
    return True


def _has_pager(option: str) -> bool:
    """Say whether a cluster of options has git's `-O`, as in `git grep -iOPROGRAM`."""
    flags, pager, _ = option.partition("O")
    return bool(pager) and flags[:1] == "-" and flags[1:].isalnum()


class _CommandLine:
    """A text that a shell may run, taken apart into the words of its commands."""

    def __init__(self, line: ShellLine, text: str, *, runs: bool) -> None:
        self._text = text
        self._runs = runs
        """Whether a shell runs it for sure, as far as the texts around it tell."""
        self._is_complete = line.is_complete
        self._texts = line.texts
        commands = (*line.commands, *line.texts)
        words = sum(end - begin for command in commands for begin, end in command.spans)
        self._is_too_deep = words > _DEEPEST * (len(text) + _MOST_NESTED)
        """Whether substitutions stand in so many others that nobody reads all of them."""
        commands = () if self._is_too_deep else commands
        self._commands = [(command, _words_as_written(command)) for command in commands]

    def aliases(self) -> set[str]:
        """Return the names that it gives the program: aliases and variables, as `g=gitguard`."""
        assignments = (word.partition("=") for _, words in self._commands for word in words)
        return {
            name
            for name, _, value in assignments
            if name.isidentifier() and value.strip() and _is_program(value.split()[0])
        }

    def owner_command(self, aliases: frozenset[str]) -> str:
        """Return what belongs to a person among its own commands, empty if nothing does."""
        if self._is_too_deep:
            return HIDDEN
        for command, words in self._commands:
            places = _places_of_program(words, aliases)
            for place in places if self._runs else places[:1]:
                if owner := _owner_among(words[place + 1 :]):
                    return owner
            if self._runs and _hides_subcommand(words, command, places):
                return HIDDEN
        return ""

    def inner_texts(self, aliases: frozenset[str]) -> Iterator[tuple[str, bool]]:
        """Yield the texts in it that a program may run, each with whether one does for sure."""
        from gitguard.model.shell.programs import script_of, started_program

        bare = self._text.translate(_NO_NESTING)
        if not self._is_complete and bare != self._text:
            yield bare, False  # the quotes are not a shell's
        for command in self._texts:
            yield " ".join(command.words).translate(_NO_NESTING), False
        for command, words in self._commands:
            place, program = _started(words, command)
            is_ours = place in _places_of_program(words, aliases)
            programs = () if is_ours else (program, started_program(command.words, command))
            outside = words[:place] if is_ours else words
            # A quoted text may be a part of a word, as in `-O'…'`.
            parts = [part.translate(_QUOTES).strip() for part in command.as_written()]
            runs = self._runs and _runs_scripts(words)
            texts = [(text, runs) for text in (*outside, *command.words[: len(outside)])]
            texts += [(text, False) for text in parts[: len(outside)]]
            # Some shells take a comment for more words, and may run what follows in it.
            comment = " ".join((*command.words[:1], command.comment.lstrip("#")))
            scripts = [script_of(program) for program in programs if program]
            texts += [(text, self._runs) for text in (*scripts, command.input, comment)]
            for text, is_run in texts:
                if _BREAKING.isdisjoint(text):
                    continue
                as_list = text.translate(_LISTS)
                for spelling, is_same in ((text, True), (as_list, as_list == text)):
                    if spelling != self._text:
                        yield spelling, is_run and is_same


def _words_as_written(command: SimpleCommand) -> list[str]:
    """Return a command's words, and those of its comment, which some shells do not have.

    A word with a substitution comes as it is written, so that `"$(which gitguard)"` shows what it
    names.
    """
    words = [
        written.translate(_NO_QUOTES) if "$(" in written or "`" in written else word
        for word, written in zip(command.words, command.as_written(), strict=True)
    ]
    return [*words, *command.comment.split()]


def _started(words: list[str], command: SimpleCommand) -> tuple[int, ShellProgram | None]:
    """Return where the program stands that a command starts, and that program.

    What Python runs as a file stands behind it.
    """
    from gitguard.model.shell.programs import started_program

    # A substitution may stand for nothing.
    named = (at for at, w in enumerate(words) if w[:2] != "$(" and w[:1] != "`" or _is_program(w))
    passed = next(named, 0)
    program = started_program(words[passed:], command)
    if program is None:
        return len(words), None
    place = passed + len(program.before)
    if program.name.startswith("python"):
        place += 1 + next((at for at, word in enumerate(program.words) if word[:1] != "-"), 0)
    return place, program


def _hides_subcommand(words: list[str], command: SimpleCommand, places: list[int]) -> bool:
    """Say whether a shell substitutes which command of ours runs, or `xargs` reads it."""
    from gitguard.model.shell.programs import FINDING

    place, program = _started(words, command)
    finds = program is not None and program.name in FINDING
    if any(
        not _EXPANDED.isdisjoint(_first_argument(words[at + 1 :]))
        for at in places
        if finds or at == place
    ):
        return True
    # `gitguard${IFS}hook` is one word here, and two where it runs.
    if any(
        "$" in word and _is_program(word.partition("$")[0]) for word in words[place : place + 1]
    ):
        return True
    names = (word.rpartition("/")[2] for word in words)
    reader = next((at for at, name in enumerate(names) if name in _READING_ARGUMENTS), len(words))
    behind = [place for place in places if place > reader]
    options = words[reader + 1 : behind[0]] if behind else []
    placeholders = {"", *options, *(option[2:] for option in options)}
    subcommands = [_first_argument(words[place + 1 :]) for place in behind]
    return any(name in placeholders or name.startswith(":::") for name in subcommands)


def _runs_scripts(words: list[str]) -> bool:
    return any(word.startswith("-") and word.endswith("c") for word in words)


def _places_of_program(words: list[str], aliases: frozenset[str]) -> list[int]:
    return [
        place
        for place, word in enumerate(words)
        if _is_program(word) or word.strip(" ${}") in aliases
    ]


def _is_program(word: str) -> bool:
    # The last part of a word, for `$(which gitguard)` is one word.
    if "$(" in word or "`" in word:
        word = word.translate(_SUBSTITUTES)
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
    if subcommand == "sync":
        named = [word for word in arguments if word.partition("=")[0] in SYNC_OF_A_PERSON]
        return f"sync {named[0].partition('=')[0]}" if named else ""
    if subcommand == "restore":
        named = [word for word in arguments if word.partition("=")[0] in RESTORES_OF_A_PERSON]
        if named:
            return f"restore {named[0]}"
        # A word behind the checkpoint is the path of a file.
        _, *checkpoint_and_paths = _arguments(arguments)
        return "restore PATH" if len(checkpoint_and_paths) > 1 else ""
    return ""


def _is_safe_repair(arguments: list[str]) -> bool:
    """Say whether a repair changes nothing, or only puts back what this machine wrote.

    A word that could be another option's value, or begin a comment, makes it unsafe.
    """
    options = arguments[arguments.index(REPAIR) + 1 :]
    return SAFE_REPAIRS.issuperset(options) and not {"--local", "--dry-run"}.isdisjoint(options)


def own_command(command: str, program: str, path: str) -> str:
    """Return the subcommand where a shell command is one simple command of our program, else "".

    program is the installed program's path, path the folders in which a shell looks for one. With
    an operator, a redirection, a substitution or an assignment it is no simple command any more.
    """
    from gitguard.model.shell.scanner import read_line

    line = read_line(command[:_LONGEST].strip())
    if len(command) > _LONGEST or not line.is_plain or len(line.commands) != 1:
        return ""
    words = line.commands[0].words
    is_ours = not line.commands[0].keywords and _is_our_program(words[0], program, path)
    return _first_argument(words[1:]) if is_ours else ""


def _is_our_program(word: str, program: str, path: str) -> bool:
    if word == _PROGRAM:
        if not program:
            return True
        word = next(filter(os.path.exists, (f"{f}/{word}" for f in path.split(":") if f)), "")
    try:
        return os.path.isabs(word) and bool(program) and os.path.samefile(word, program)
    except OSError:
        return False


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


OWNER_METHODS = frozenset(
    (
        *("override", "purge", "trust", "accept", "forget", "archive_theirs", "publish"),
        *("uninstall", "pin", "unpin", "handle", "respond", "trust_key", "distrust_key"),
        *("roll_back", "keep_hold", "keep_conversation", "forget_faults"),
    )
)
"""Methods and functions of the library that choose for a person, or that speak as a host."""
_OWNER_CALLS = (
    *("force=True", "untrusted=True", "theirs_too=True", "compacted=True"),
    *("sessions.close(", "gitguard.cli.hook", "gitguard.cli.app", "gitguard.__main__"),
    *("gitguard.cliimport", "gitguardimportcli"),
)
"""Other calls of its, or parts of them, without blanks."""
_IMPORTS = ("import gitguard", "from gitguard", "import_module", "__import__", "run_module")
_WRITING = (
    *("write", "unlink", "remove", "rmtree", "rename", "replace", "truncate", "mkdir", "touch"),
    *("rmdir", "chmod", "chown", "move", "copy", "symlink", "link(", "dump", "utime", "O_WRONLY"),
    *(
        "O_RDWR",
        "O_TRUNC",
        "O_CREAT",
        "system(",
        "subprocess",
        "spawn",
        "exec",
        "print >",
        "print>",
    ),
    *("appendFile", "WriteStream", "rm(", "rmSync", "FileUtils", "file_put_contents"),
)
"""What code that changes files contains; reading contains none of it."""
_MODES = tuple(f"{quote}{mode}" for quote in "\"'" for mode in ("w", "a", "x", "r+", "+<", ">"))
"""How the mode of a file begins that is opened to be written."""
_LONGEST_SCRIPT, _MOST_OF_SCRIPTS = 1 << 18, 1 << 20
"""Bytes that are read of a script, and of all scripts that a line runs."""
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""A named pipe would let us wait for its writer."""
_NEAR = 40
"""Characters beside a name that are looked at."""
_PYTHONS = ("python", "pypy", "ipython")


def owner_call(line: str, folders: tuple[str, ...]) -> str:
    """Return which of a person's methods the Python code of a line reaches, empty if none.

    folders is where the line may run.
    """
    codes = (code for code in _python_of(line, folders) if _PROGRAM in code)
    return next(filter(None, map(_owner_call_in, codes)), "")


def code_that_writes(line: str) -> Iterator[str]:
    """Yield the code that a line hands to interpreters, where it seems to change files."""
    from gitguard.model.shell.programs import INTERPRETERS, programs_of

    if not any(name in line for name in INTERPRETERS):
        return
    programs = (p for p in programs_of(line) if p.name.startswith(INTERPRETERS))
    for code in _codes_of(programs):
        if any(mark in code for mark in (*_WRITING, *_MODES)):
            yield code


def _codes_of(programs: Iterable[ShellProgram]) -> Iterator[str]:
    """Yield what programs are given and what they read, each text once."""
    seen: set[str] = set()
    for program in programs:
        for code in ("\n".join(program.words), program.input):
            if code and code not in seen:
                seen.add(code)
                yield code


def _python_of(line: str, folders: tuple[str, ...]) -> Iterator[str]:
    """Yield the Python code of a line: given, read from its input, or in a file that it runs."""
    if is_plainly_harmless(line):
        # One program and plain words, which need no parser.
        name, *words = line.split() or [""]
        if name.startswith(_PYTHONS):
            yield "\n".join(words)
            yield from _contents([next((word for word in words if word[:1] != "-"), "-")], folders)
        return
    from gitguard.model.shell.programs import programs_of

    programs = [*programs_of(line)]
    pythons = [program for program in programs if program.name.startswith(_PYTHONS)]
    scripts = [next((word for word in p.words if word[:1] != "-"), "-") for p in pythons]
    scripts += [p.command.words[0] for p in programs if p.name.endswith(".py")]
    yield from _codes_of(pythons)
    yield from _contents(dict.fromkeys(scripts), folders)
    if scripts and _PROGRAM in line:
        # The same line may write the file, or hand on what another program reads.
        yield from dict.fromkeys(program.input for program in programs)
        yield from _codes_of(program for program in programs if program.name in ("echo", "printf"))


def _contents(scripts: Iterable[str], folders: tuple[str, ...]) -> Iterator[str]:
    """Yield what is in scripts, up to a size of all together."""
    bytes_left = _MOST_OF_SCRIPTS
    for path in scripts:
        if bytes_left <= 0:
            return
        if path in ("", "-") or "\n" in path or "\0" in path:
            continue
        for folder in ("",) if os.path.isabs(path) else dict.fromkeys(folders):
            try:
                handle = os.open(os.path.join(folder, path), os.O_RDONLY | _NO_WAIT)
                try:
                    data = os.read(handle, min(_LONGEST_SCRIPT, bytes_left))
                finally:
                    os.close(handle)
            except OSError:
                continue  # there is no such file, as the interpreter will say
            bytes_left -= len(data)
            yield data.decode("utf-8", "replace")


def _owner_call_in(code: str) -> str:
    if not any(mark in code for mark in _IMPORTS):
        return ""
    dense = code.replace(" ", "")
    for part in _OWNER_CALLS:
        if part in dense:
            return part
    import re  # few calls come this far

    for match in re.finditer(r"\w+", code):
        word, start, end = match[0], *match.span()
        before = code[max(start - _NEAR, 0) : start].rstrip()
        after = code[end : end + _NEAR].lstrip(" \t")[:1]
        is_reached = before[-1:] == "." or after == "(" or before.endswith("import")
        is_quoted = before[-1:] in ("'", '"') and after == before[-1:]
        if word in OWNER_METHODS and (is_reached or is_quoted):
            return word
        if is_quoted and word in OWNER_COMMANDS:
            return word
    return ""
