"""Which shell commands destroy something, so that a checkpoint is saved before they run.

`_TABLE` and the user's own rules say what counts. Both are matched on the programs that a line
runs, also inside of `bash -c`, substitutions, `sudo`, `xargs` or `find -exec`; text that is only an
argument, as in `echo 'rm -rf x'`, never counts. In doubt a command counts: a checkpoint too many
costs less than one too few. What nobody can see is listed in references/guides/hosts.md.
"""

from __future__ import annotations

from gitguard.model.shell.programs import (
    INTERPRETERS,
    SHELLS,
    UNREAD,
    VALUES,
    Arguments,
    ShellProgram,
    behind_operands,
    programs_of,
)
from gitguard.model.shell.scanner import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


_UNREAD = "a command too long to read"


class _ExistingFiles:
    """Which files a line may overwrite: those that exist, and those of which nobody knows."""

    def __init__(self, exists: Callable[[str], bool] | None) -> None:
        self._exists = exists
        self._folders = [""]

    def follow(self, program: ShellProgram) -> None:
        """Take in where a program goes, or where what it starts works."""
        folder = "".join(program.words) if program.name in ("cd", "pushd", "popd") else "."
        is_told = folder and folder[0] != "-" and _EXPANDED.isdisjoint(folder)
        is_elsewhere = not _ELSEWHERE.isdisjoint((program.name, *program.before))
        if not is_told or is_elsewhere or len(self._folders) > _MOST_FOLDERS:
            self._exists = None
        elif folder != ".":
            self._folders += [f"{before}{folder}/" for before in self._folders]

    def may_lose(self, path: str) -> bool:
        """Say whether something of the work may be in a file that is overwritten."""
        if _is_harmless_target(path):
            return False
        if self._exists is None or not _EXPANDED.isdisjoint(path):
            return True
        folders = [""] if path[:1] == "/" else self._folders
        return any(self._exists(folder + path) for folder in folders)


class _Operands(Arguments):
    """What stands behind a program's name, and what is known of the files that it names."""

    def __init__(
        self, program: ShellProgram, name: str, words: list[str], files: _ExistingFiles
    ) -> None:
        values = frozenset(VALUES.get(name, "").split())
        super().__init__(words, values, is_repeated=program.is_repeated)
        self.may_lose = files.may_lose


def _anything(arguments: _Operands) -> bool:
    return True


def _some(arguments: _Operands) -> bool:
    return arguments.is_repeated or bool(arguments.operands)


def _not_temporary(arguments: _Operands) -> bool:
    return arguments.is_repeated or not all(map(_is_harmless_target, arguments.operands))


def _more_than_a_temporary_file(arguments: _Operands) -> bool:
    operands = arguments.operands
    return len(operands) > 1 or any(map(_is_glob, operands)) or _not_temporary(arguments)


def _several(arguments: _Operands) -> bool:
    """Say whether there are several files, by their number, a pattern or a substitution."""
    operands = arguments.operands
    return arguments.is_repeated or len(operands) > 1 or any(map(_is_pattern, operands))


def _several_behind_a_script(arguments: _Operands) -> bool:
    """Say the same where the first operand is a script, unless an option gives that."""
    operands = arguments.operands
    if not arguments.option_among(["-e", "-E", "-f", "--expression", "--file"]):
        operands = operands[1:]
    return arguments.is_repeated or len(operands) > 1 or any(map(_is_pattern, operands))


def _tree(arguments: _Operands) -> bool:
    """Say whether a program works on several files, a folder, or the current one by default."""
    operands = arguments.operands
    return not operands or _several(arguments) or any(map(_may_be_folder, operands))


def _tree_unless_checked(arguments: _Operands) -> bool:
    return "--check" not in arguments.operands


def _one_onto_another(arguments: _Operands) -> bool:
    """Say whether the target may be an existing file; one that is plainly a folder is none."""
    operands = arguments.operands
    if arguments.is_repeated or len(operands) != 2:
        return arguments.is_repeated
    is_folder = operands[1].rpartition("/")[2] in ("", ".", "..")
    return not is_folder and _not_temporary(arguments)


def _overwritten(arguments: _Operands) -> bool:
    return arguments.is_repeated or any(map(arguments.may_lose, arguments.operands))


def _target_overwritten(arguments: _Operands) -> bool:
    is_lost = arguments.is_repeated or any(map(arguments.may_lose, arguments.operands[-1:]))
    return is_lost and _one_onto_another(arguments)


def _emptied(arguments: _Operands) -> bool:
    return arguments.operands[:1] == ["/dev/null"] and _target_overwritten(arguments)


def _puts_away(arguments: _Operands) -> bool:
    return not arguments.operands or arguments.operands[0] in ("push", "save")


def _paths_to_check_out(arguments: _Operands) -> bool:
    operands = arguments.operands
    if arguments.is_repeated or (arguments.has_dashes and operands) or len(operands) > 1:
        return True
    return any(map(_is_plainly_path, operands))


def _forced_refs(arguments: _Operands) -> bool:
    return any(operand[:1] in ("+", ":") for operand in arguments.operands)


def _output_file(arguments: _Operands) -> bool:
    targets = [word[3:] for word in arguments.operands if word.startswith("of=")]
    return any(map(arguments.may_lose, targets))


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


_EXPANDED = frozenset(f"{UNKNOWN}*?[{{~")
"""A shell puts other words in place of a word with one of these."""
_ELSEWHERE = frozenset(
    ("ssh", "su", "docker", "podman", "kubectl", "chroot", "-C", "-D", "--chdir")
)
"""Programs, and options of those that start others, behind which paths mean other files."""
_MOST_FOLDERS = 16
_TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/", f"{UNKNOWN}TMPDIR/")
_DEVICES = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"))


def _is_harmless_target(path: str) -> bool:
    """Say whether nothing of the work is in a file: it is temporary, or none at all."""
    if path in _DEVICES or path.startswith("/dev/fd/"):
        return True
    return path.startswith(_TEMPORARY) and path[-1] != "/" and ".." not in path.split("/")


if TYPE_CHECKING:
    _Row = tuple[str, str, str, Callable[[_Operands], bool]]

_TABLE: tuple[_Row, ...] = (
    # commands, options of which they need one, options that make them harmless, what they work on
    #
    # Versions, branches and the worktree
    ("git reset", "--hard --merge --keep", "", _anything),
    ("git clean", "-f --force", "-n", _anything),
    ("git checkout", "-f --force -B -p --patch", "", _anything),
    ("git checkout", "", "-b --orphan", _paths_to_check_out),
    ("git switch", "-f --force --discard-changes -C --force-create", "", _anything),
    ("git restore", "-W --worktree", "", _anything),
    ("git restore", "", "-S --staged", _some),
    ("git stash drop|clear|pop", "", "", _anything),
    ("git stash", "-u -a --include-untracked --all", "", _puts_away),
    ("git apply", "-R --reverse", "--check --stat --numstat --summary", _anything),
    ("git checkout-index", "-f --force", "", _anything),
    ("git read-tree", "-u --reset", "-n", _anything),
    ("git branch", "-D -M -C -f --force", "", _anything),
    ("git tag", "-d --delete -f --force", "", _anything),
    ("git push", "-f --force --force-with-lease --delete -d --mirror --prune", "-n", _anything),
    ("git push", "", "-n", _forced_refs),
    ("git rm", "", "--cached -n", _some),
    ("git mv", "-f --force", "-n", _anything),
    ("git rebase", "", "--show-current-patch", _anything),
    ("git pull", "-r --rebase", "--rebase=false --no-rebase", _anything),
    ("git merge|cherry-pick|revert|am", "--abort", "", _anything),
    ("git filter-branch|filter-repo", "", "", _anything),
    ("git worktree remove", "", "", _anything),
    ("git submodule deinit", "", "", _anything),
    ("git update-ref", "-d --stdin", "", _anything),
    ("git reflog expire|delete", "", "-n", _anything),
    ("git gc", "--prune", "", _anything),
    # Files
    ("rm", "-r -R --recursive", "", _some),
    ("rm", "", "", _more_than_a_temporary_file),
    ("mv", "", "-n --no-clobber -b --backup -t --target-directory", _one_onto_another),
    ("cp", "-f --force --remove-destination", "-n --no-clobber -b --backup", _target_overwritten),
    ("cp", "", "-n --no-clobber -b --backup", _emptied),
    ("install", "", "-d -b --directory --backup", _emptied),
    ("ln", "-f --force", "-b --backup", _target_overwritten),
    ("tee", "", "-a --append", _overwritten),
    ("sponge", "", "-a", _overwritten),
    ("truncate", "", "", _overwritten),
    ("patch", "-R --reverse", "-C --check", _anything),
    ("shred|unlink", "", "", _not_temporary),
    ("rimraf", "", "", _some),
    ("dd", "", "", _output_file),
    ("mkfs", "", "", _anything),
    ("rsync", "--delete* --del --remove-source-files", "-n", _anything),
    ("find", "-delete", "", _anything),
    # The same edit in several files
    ("sed|gsed", "-i --in-place", "", _several_behind_a_script),
    ("perl|ruby|awk|gawk", "-i", "", _several_behind_a_script),
    # Formatters over a tree
    ("prettier", "-w --write", "", _tree),
    ("eslint|stylelint", "--fix", "", _tree),
    ("biome format", "--write", "", _tree),
    ("biome check", "--write --apply", "", _tree),
    ("deno fmt", "", "--check", _tree),
    ("black", "", "--check --diff -c --code -", _tree),
    ("isort", "", "-c --check --check-only --diff -", _tree),
    ("ruff format", "", "--check --diff -", _tree),
    ("ruff check", "--fix --fix-only", "--diff -", _tree),
    ("autopep8|autoflake|yapf", "-i --in-place", "", _tree),
    ("gofmt|gofumpt|goimports", "-w", "", _tree),
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
    ("docker system|volume|image|container|builder|network prune", "", "", _anything),
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
_DELETING = (
    *("rmtree", "remove_tree", "remove_entry", "rimraf", "rm_rf", "rm_r", "unlink", "removedirs"),
    *("os.remove", "import remove", "file.remove", ".rm(", "rmSync", "rmdirSync", "Deno.remove"),
    *("FileUtils.rm", "File.delete", "truncate(", "truncateSync", "shutil.move", "os.rename"),
    *("os.replace", "renameSync", "'rm ", '"rm ', "'rm'", '"rm"'),
)
"""What code that deletes files contains."""
_MARKS = " '\"(."
_CODE = frozenset("(;'\" \n")
"""One of these is in code that stands in a word, and hardly ever in another argument."""


def _rows_by_name() -> dict[str, list[_Row]]:
    rows: dict[str, list[_Row]] = {}
    for row in _TABLE:
        names = [""]
        for word in row[0].split():
            names = [f"{name} {choice}".strip() for name in names for choice in word.split("|")]
        for name in names:
            rows.setdefault(name, []).append(row)
    return rows


_ROWS = _rows_by_name()
_WITH_SUBCOMMANDS = frozenset(name.partition(" ")[0] for name in _ROWS if " " in name)


def destructive_reason(
    line: str, rules: Iterable[str] = (), exists: Callable[[str], bool] | None = None
) -> str:
    """Return why a shell line is destructive, such as `git reset --hard`; empty if it is not.

    rules are the user's own. exists says whether a path, which may be relative to the folder in
    which the line runs, is there; without it, every file that is overwritten may be.
    """
    files = _ExistingFiles(exists)
    for program in programs_of(line):
        if any(map(files.may_lose, program.command.truncated)):
            return "> FILE"
        if program.name == UNREAD:
            return _UNREAD
        files.follow(program)
        reasons = (
            _statement_in(program),
            _reason_by_code(program),
            _reason_by_table(program, files),
            next((rule for rule in rules if runs(program, rule.split())), ""),
        )
        if any(reasons):
            return next(filter(None, reasons))
    return ""


def runs(program: ShellProgram, rule: list[str]) -> bool:
    """Say whether a program is the one that a rule begins with, with its words in their order.

    It may also be one that starts the program, or a script that an interpreter runs.
    """
    words = [*program.before, program.name, *program.words]
    if program.name in _DATABASES:
        words = " ".join(words).split()  # of a statement
    starts = [*range(len(program.before) + 1)]
    if program.name in SHELLS or program.name.startswith((".", "source", *INTERPRETERS)):
        operands = (at for at, word in enumerate(program.words) if word[:1] != "-")
        starts += [len(program.before) + 1 + at for at in [*operands][:1]]
    if rule[:1] and rule[0][:1] == "-":
        return _in_order(rule, words)
    return any(
        _is_among(rule[0], words[start]) and _in_order(rule[1:], words[start + 1 :])
        for start in starts
        if rule
    )


def _in_order(rule: list[str], words: list[str]) -> bool:
    # One iterator for all patterns: each goes on behind the word that matched the one before.
    remaining = iter(words)
    return all(any(_is_among(pattern, word) for word in remaining) for pattern in rule)


def _is_among(pattern: str, word: str) -> bool:
    return any(_is(choice, word) for choice in pattern.split("|"))


def _is(choice: str, word: str) -> bool:
    if len(choice) == 2 and choice[0] == "-" and choice[1].isalpha():
        # A single-letter flag may stand in a cluster: -rf contains -r and -f.
        return word.startswith("-") and not word.startswith("--") and choice[1] in word
    if not choice.startswith("-"):
        word, choice = word.rpartition("/")[2].lower(), choice.lower()
    return word.startswith(choice[:-1]) if choice.endswith("*") else word == choice


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
        if whole in _ROWS:
            return whole, words[length:]
    return name, words


def _reason_by_table(program: ShellProgram, files: _ExistingFiles) -> str:
    name, words = _with_subcommand(program)
    rows = _ROWS.get(name)
    if rows is None:
        return ""
    arguments = _Operands(program, name, words, files)
    if arguments.option_among(_ALWAYS_HARMLESS):
        return ""
    for _, options, harmless, applies in rows:
        option = arguments.option_among(options.split())
        if options and not option:
            continue
        if not arguments.option_among(harmless.split()) and applies(arguments):
            return f"{name} {option}".rstrip()
    return ""


def _reason_by_code(program: ShellProgram) -> str:
    """Return the interpreter and what deletes in its code: in words of it, or else its input."""
    if not program.name.startswith(INTERPRETERS):
        return ""
    codes = []
    for word in program.words:
        if not _CODE.isdisjoint(word):
            codes.append(word)
        elif _is_plainly_path(word or "-"):
            break  # a script, whose own arguments follow
    else:
        codes = codes or [program.input]
    code = "\n".join(codes)
    if program.name.endswith("awk") and "system" not in code:
        return ""
    # A search for a word, as in `/unlink/`, calls nothing.
    marks = (mark for mark in _DELETING if mark in code.replace(f"/{mark}", ""))
    return next((f"{program.name} {mark.strip(_MARKS)}" for mark in marks), "")


def _statement_in(program: ShellProgram) -> str:
    if program.name not in _DATABASES:
        return ""
    text = " ".join(" ".join((*program.words, program.input)).lower().split())
    return next((statement for statement in _STATEMENTS if statement in text), "")
