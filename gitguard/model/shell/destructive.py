"""Which shell commands destroy something, so that a checkpoint is saved before they run.

`_TABLE` says what counts. It is matched on the words of each command that a line runs, also inside
of `bash -c`, substitutions, `sudo`, `xargs` or `find -exec`; text that is only an argument, as in
`echo 'rm -rf x'`, never counts. In doubt a command counts: a checkpoint too many costs less than
one too few. What the table cannot see is listed in references/guides/hosts.md.
"""

from __future__ import annotations

from gitguard.model.shell.programs import (
    UNREAD,
    VALUES,
    Arguments,
    behind_operands,
    programs_of,
)
from gitguard.model.shell.scanner import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.shell.programs import ShellProgram

_UNREAD = "a command too long to read"


def _anything(arguments: Arguments) -> bool:
    return True


def _some(arguments: Arguments) -> bool:
    return arguments.is_repeated or bool(arguments.operands)


def _not_temporary(arguments: Arguments) -> bool:
    return arguments.is_repeated or not all(map(_is_harmless_target, arguments.operands))


def _more_than_a_temporary_file(arguments: Arguments) -> bool:
    operands = arguments.operands
    return len(operands) > 1 or any(map(_is_glob, operands)) or _not_temporary(arguments)


def _several(arguments: Arguments) -> bool:
    """Say whether there are several files, by their number, a pattern or a substitution."""
    operands = arguments.operands
    return arguments.is_repeated or len(operands) > 1 or any(map(_is_pattern, operands))


def _several_behind_a_script(arguments: Arguments) -> bool:
    """Say the same where the first operand is a script, unless an option gives that."""
    operands = arguments.operands
    if not arguments.option_among(["-e", "-E", "-f", "--expression", "--file"]):
        operands = operands[1:]
    return arguments.is_repeated or len(operands) > 1 or any(map(_is_pattern, operands))


def _tree(arguments: Arguments) -> bool:
    """Say whether a program works on several files, a folder, or the current one by default."""
    operands = arguments.operands
    return not operands or _several(arguments) or any(map(_may_be_folder, operands))


def _tree_unless_checked(arguments: Arguments) -> bool:
    return "--check" not in arguments.operands


def _one_onto_another(arguments: Arguments) -> bool:
    """Say whether the target may be an existing file; one that is plainly a folder is none."""
    operands = arguments.operands
    if arguments.is_repeated or len(operands) != 2:
        return arguments.is_repeated
    is_folder = operands[1].rpartition("/")[2] in ("", ".", "..")
    return not is_folder and _not_temporary(arguments)


def _paths_to_check_out(arguments: Arguments) -> bool:
    operands = arguments.operands
    if arguments.is_repeated or (arguments.has_dashes and operands) or len(operands) > 1:
        return True
    return any(map(_is_plainly_path, operands))


def _forced_refs(arguments: Arguments) -> bool:
    return any(operand[:1] in ("+", ":") for operand in arguments.operands)


def _output_file(arguments: Arguments) -> bool:
    targets = [word[3:] for word in arguments.operands if word.startswith("of=")]
    return not all(map(_is_harmless_target, targets))


def _is_pattern(word: str) -> bool:
    """Say whether a word may stand for several files."""
    return UNKNOWN in word or _is_glob(word)


def _is_glob(word: str) -> bool:
    return any(character in word for character in "*?[") or ("{" in word and "," in word)


def _may_be_folder(word: str) -> bool:
    """Say whether a path may be a folder: its last part has no suffix."""
    return "." not in word.rpartition("/")[2].lstrip(".")


def _is_plainly_path(word: str) -> bool:
    """Say whether a word that could be a branch is a path, such as `.`, `./a`, `*.py` or `a.py`."""
    if word in (".", "..") or word.startswith(("./", "../", "/", ":")) or word[-1] == "/":
        return True
    _, dot, suffix = word.rpartition("/")[2].rpartition(".")
    return bool(dot and suffix.isalpha()) or _is_glob(word)


_TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/", f"{UNKNOWN}TMPDIR/")
_DEVICES = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"))


def _is_harmless_target(path: str) -> bool:
    """Say whether nothing of the work is in a file: it is temporary, or none at all."""
    if path in _DEVICES or path.startswith("/dev/fd/"):
        return True
    return path.startswith(_TEMPORARY) and path[-1] != "/" and ".." not in path.split("/")


if TYPE_CHECKING:
    _Row = tuple[str, str, str, Callable[[Arguments], bool]]

_TABLE: tuple[_Row, ...] = (
    # command, options of which it needs one, options that make it harmless, what it works on
    #
    # Versions, branches and the worktree
    ("git reset", "--hard --merge --keep", "", _anything),
    ("git clean", "-f --force", "-n", _anything),
    ("git checkout", "-f --force -B -p --patch", "", _anything),
    ("git checkout", "", "-b --orphan", _paths_to_check_out),
    ("git switch", "-f --force --discard-changes -C --force-create", "", _anything),
    ("git restore", "-W --worktree", "", _anything),
    ("git restore", "", "-S --staged", _some),
    ("git stash drop", "", "", _anything),
    ("git stash clear", "", "", _anything),
    ("git stash pop", "", "", _anything),
    ("git branch", "-D -M -C -f --force", "", _anything),
    ("git tag", "-d --delete -f --force", "", _anything),
    ("git push", "-f --force --force-with-lease --delete -d --mirror --prune", "-n", _anything),
    ("git push", "", "-n", _forced_refs),
    ("git rm", "", "--cached -n", _some),
    ("git mv", "-f --force", "-n", _anything),
    ("git rebase", "", "--show-current-patch", _anything),
    ("git pull", "-r --rebase", "--rebase=false --no-rebase", _anything),
    ("git merge", "--abort", "", _anything),
    ("git cherry-pick", "--abort", "", _anything),
    ("git revert", "--abort", "", _anything),
    ("git am", "--abort", "", _anything),
    ("git filter-branch", "", "", _anything),
    ("git filter-repo", "", "", _anything),
    ("git worktree remove", "", "", _anything),
    ("git submodule deinit", "", "", _anything),
    ("git update-ref", "-d --stdin", "", _anything),
    ("git reflog expire", "", "-n", _anything),
    ("git reflog delete", "", "-n", _anything),
    ("git gc", "--prune", "", _anything),
    # Files
    ("rm", "-r -R --recursive", "", _some),
    ("rm", "", "", _more_than_a_temporary_file),
    ("mv", "", "-n --no-clobber -b --backup -t --target-directory", _one_onto_another),
    ("cp", "-f --force --remove-destination", "-n --no-clobber -b --backup", _one_onto_another),
    ("tee", "", "-a --append", _not_temporary),
    ("truncate", "", "", _not_temporary),
    ("shred", "", "", _not_temporary),
    ("unlink", "", "", _not_temporary),
    ("dd", "", "", _output_file),
    ("mkfs", "", "", _anything),
    ("rsync", "--delete* --del --remove-source-files", "-n", _anything),
    ("find", "-delete", "", _anything),
    # The same edit in several files
    ("sed", "-i --in-place", "", _several_behind_a_script),
    ("gsed", "-i --in-place", "", _several_behind_a_script),
    ("perl", "-i", "", _several_behind_a_script),
    ("ruby", "-i", "", _several_behind_a_script),
    ("awk", "-i", "", _several_behind_a_script),
    ("gawk", "-i", "", _several_behind_a_script),
    # Formatters over a tree
    ("prettier", "-w --write", "", _tree),
    ("eslint", "--fix", "", _tree),
    ("stylelint", "--fix", "", _tree),
    ("biome format", "--write", "", _tree),
    ("biome check", "--write --apply", "", _tree),
    ("deno fmt", "", "--check", _tree),
    ("black", "", "--check --diff -c --code -", _tree),
    ("isort", "", "-c --check --check-only --diff -", _tree),
    ("ruff format", "", "--check --diff -", _tree),
    ("ruff check", "--fix --fix-only", "--diff -", _tree),
    ("autopep8", "-i --in-place", "", _tree),
    ("autoflake", "-i --in-place", "", _tree),
    ("yapf", "-i --in-place", "", _tree),
    ("gofmt", "-w", "", _tree),
    ("gofumpt", "-w", "", _tree),
    ("goimports", "-w", "", _tree),
    ("go fmt", "", "-n", _anything),
    ("cargo fmt", "", "--check", _tree_unless_checked),
    ("cargo fix", "", "", _anything),
    ("cargo clippy", "--fix", "", _anything),
    ("rustfmt", "", "--check", _some),
    ("clang-format", "-i", "", _several),
    ("shfmt", "-w --write", "", _tree),
    ("mix format", "", "--check-formatted", _tree),
    ("dart format", "", "-o --output", _tree),
    ("terraform fmt", "", "-check", _tree),
    # What runs elsewhere
    ("docker system prune", "", "", _anything),
    ("docker volume prune", "", "", _anything),
    ("docker image prune", "", "", _anything),
    ("docker container prune", "", "", _anything),
    ("docker builder prune", "", "", _anything),
    ("docker network prune", "", "", _anything),
    ("kubectl delete", "", "", _anything),
    ("terraform destroy", "", "", _anything),
)
_STATEMENTS = (
    *("drop table", "drop database", "drop schema", "drop index"),
    *("delete from", "truncate table"),
)
"""SQL that counts where a database's client gets it."""
_ALWAYS_HARMLESS = ["--help", "--version", "--dry-run"]

_DATABASES = frozenset(
    ("psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "duckdb", "sqlplus", "clickhouse-client")
)


def _rules_by_name() -> dict[str, list[_Row]]:
    rules: dict[str, list[_Row]] = {}
    for row in _TABLE:
        rules.setdefault(row[0], []).append(row)
    return rules


_RULES = _rules_by_name()
_WITH_SUBCOMMANDS = frozenset(name.partition(" ")[0] for name in _RULES if " " in name)


def destructive_reason(line: str) -> str:
    """Return why a shell line is destructive, such as `git reset --hard`; empty if it is not."""
    for program in programs_of(line):
        if not all(map(_is_harmless_target, program.command.truncated)):
            return "> FILE"
        if program.name == UNREAD:
            return _UNREAD
        if program.name in _DATABASES:
            reason = _statement_in(" ".join((*program.words, program.input)))
        else:
            name, words = _with_subcommand(program)
            reason = _reason_by_table(name, words, is_repeated=program.is_repeated)
        if reason:
            return reason
    return ""


def _with_subcommand(program: ShellProgram) -> tuple[str, list[str]]:
    """Return a program's name with as much of its subcommand as counts, and its arguments."""
    name, words = program.name, program.words
    if name not in _WITH_SUBCOMMANDS:
        return ("mkfs" if name.startswith("mkfs.") else name), words
    if name == "cargo" and words[:1] and words[0][:1] == "+":
        words = words[1:]  # a toolchain
    words = behind_operands(words, VALUES.get(name, ""), 0)
    for length in (2, 1):
        whole = " ".join((name, *words[:length]))
        if whole in _RULES:
            return whole, words[length:]
    return name, words


def _reason_by_table(name: str, words: list[str], *, is_repeated: bool) -> str:
    rules = _RULES.get(name)
    if rules is None:
        return ""
    values = frozenset(VALUES.get(name, "").split())
    arguments = Arguments(words, values, is_repeated=is_repeated)
    if arguments.option_among(_ALWAYS_HARMLESS):
        return ""
    for _, options, harmless, applies in rules:
        option = arguments.option_among(options.split())
        if options and not option:
            continue
        if not arguments.option_among(harmless.split()) and applies(arguments):
            return f"{name} {option}".rstrip()
    return ""


def _statement_in(text: str) -> str:
    normalized = " ".join(text.lower().split())
    return next((statement for statement in _STATEMENTS if statement in normalized), "")
