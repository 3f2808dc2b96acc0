"""Code that a shell line hands to an interpreter, and whether it does what belongs to a person.

It reads words, not meaning, as `shell_commands` does: code that hides them gets through
(references/guides/security.md, "What an agent may do").
"""

from __future__ import annotations

import os

from gitguard.hooks.shell_commands import OWNER_COMMANDS, is_plainly_harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.model.shell.programs import ShellProgram

_PROGRAM = "gitguard"
OWNER_METHODS = frozenset(
    (
        *("override", "purge", "trust", "accept", "forget", "archive_theirs", "publish"),
        *("uninstall", "pin", "unpin", "handle", "respond"),
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
_LONGEST, _MOST = 1 << 18, 1 << 20
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
    bytes_left = _MOST
    for path in scripts:
        if bytes_left <= 0:
            return
        if path in ("", "-") or "\n" in path or "\0" in path:
            continue
        for folder in ("",) if os.path.isabs(path) else dict.fromkeys(folders):
            try:
                handle = os.open(os.path.join(folder, path), os.O_RDONLY | _NO_WAIT)
                try:
                    data = os.read(handle, min(_LONGEST, bytes_left))
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
