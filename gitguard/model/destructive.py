"""Which shell commands destroy something, so that a checkpoint is saved before they run.

`_TABLE` says what counts. It is matched on the words of each command that a line runs, also inside
of `bash -c`, substitutions, `sudo`, `xargs` or `find -exec`; text that is only an argument, as in
`echo 'rm -rf x'`, never counts. In doubt a command counts: a checkpoint too many costs less than
one too few. What the table cannot see is listed in references/guides/hosts.md.
"""

from __future__ import annotations

from gitguard.model.shell_words import UNKNOWN, commands_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.shell_words import SimpleCommand

LONGEST = 1 << 16
"""Characters of a command that are read; a longer one counts, since nothing read all of it."""
_UNREAD = "a command too long to read"
_DEEPEST = 8
"""Scripts in scripts, as in `sh -c "sh -c …"`, that are read; a deeper one is not, and counts."""
_MOST_RUNNERS = 16
"""Programs in front of another one, as in `sudo nice timeout 5 rm x`, that are seen through."""


class _Arguments:
    """What stands behind a program's name."""

    def __init__(self, words: list[str], values: frozenset[str], *, is_repeated: bool) -> None:
        self.options: list[str] = []
        self.operands: list[str] = []
        self.has_dashes = False
        """Whether `--` ends the options."""
        self.is_repeated = is_repeated
        """Whether `xargs` or `find` names more operands."""
        self.values = values
        is_value = False
        for at, word in enumerate(words):
            if is_value:
                is_value = False
            elif word == "--":
                self.has_dashes = True
                self.operands += words[at + 1 :]
                break
            elif word[:1] == "-":
                self.options.append(word)
                is_value = _takes_next_word(word, values)
            elif word:  # BSD's `sed -i ''` has an empty one
                self.operands.append(word)

    def option_among(self, names: list[str]) -> str:
        """Return which of these options is given, empty if none is."""
        for word in self.options:
            for name in names:
                if _is_option(name, word, self.values):
                    return name.rstrip("*")
        return ""


def _takes_next_word(option: str, values: frozenset[str]) -> bool:
    if option in values:
        return True
    if option[:2] == "--":
        return False
    # In a cluster such as -pe the first letter that takes a value takes what follows it.
    places = (place for place, letter in enumerate(option) if place and f"-{letter}" in values)
    return next(places, 0) == len(option) - 1 > 0


def _is_option(name: str, word: str, values: frozenset[str]) -> bool:
    if name[-1] == "*":
        return word.startswith(name[:-1])
    if name == word or name == word.partition("=")[0]:
        return True
    if len(name) != 2 or word[:2] == "--":
        return False
    for letter in word[1:]:
        if letter == name[1]:
            return True
        if f"-{letter}" in values or not letter.isalnum():
            return False
    return False


def _anything(arguments: _Arguments) -> bool:
    return True


def _some(arguments: _Arguments) -> bool:
    return arguments.is_repeated or bool(arguments.operands)


def _not_temporary(arguments: _Arguments) -> bool:
    return arguments.is_repeated or not all(map(_is_harmless_target, arguments.operands))


def _more_than_a_temporary_file(arguments: _Arguments) -> bool:
    operands = arguments.operands
    return len(operands) > 1 or any(map(_is_glob, operands)) or _not_temporary(arguments)


def _several(arguments: _Arguments) -> bool:
    """Say whether there are several files, by their number, a pattern or a substitution."""
    operands = arguments.operands
    return arguments.is_repeated or len(operands) > 1 or any(map(_is_pattern, operands))


def _several_behind_a_script(arguments: _Arguments) -> bool:
    """Say the same where the first operand is a script, unless an option gives that."""
    operands = arguments.operands
    if not arguments.option_among(["-e", "-E", "-f", "--expression", "--file"]):
        operands = operands[1:]
    return arguments.is_repeated or len(operands) > 1 or any(map(_is_pattern, operands))


def _tree(arguments: _Arguments) -> bool:
    """Say whether a program works on several files, a folder, or the current one by default."""
    operands = arguments.operands
    return not operands or _several(arguments) or any(map(_may_be_folder, operands))


def _tree_unless_checked(arguments: _Arguments) -> bool:
    return "--check" not in arguments.operands


def _one_onto_another(arguments: _Arguments) -> bool:
    """Say whether the target may be an existing file; one that is plainly a folder is none."""
    operands = arguments.operands
    if arguments.is_repeated or len(operands) != 2:
        return arguments.is_repeated
    is_folder = operands[1].rpartition("/")[2] in ("", ".", "..")
    return not is_folder and _not_temporary(arguments)


def _paths_to_check_out(arguments: _Arguments) -> bool:
    operands = arguments.operands
    if arguments.is_repeated or (arguments.has_dashes and operands) or len(operands) > 1:
        return True
    return any(map(_is_plainly_path, operands))


def _forced_refs(arguments: _Arguments) -> bool:
    return any(operand[:1] in ("+", ":") for operand in arguments.operands)


def _output_file(arguments: _Arguments) -> bool:
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
    _Row = tuple[str, str, str, Callable[[_Arguments], bool]]

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

_VALUES: dict[str, str] = {
    "git": "-C -c --git-dir --work-tree --namespace --config-env",
    "git branch": "-u --set-upstream-to --contains --no-contains --merged --sort",
    "git checkout": "-B -b --orphan --conflict --pathspec-from-file",
    "git push": "-o --push-option --repo --receive-pack",
    "git restore": "-s --source --conflict",
    "git tag": "-m -F -u --message --file --sort",
    "kubectl": "-n --namespace --context --kubeconfig",
    "docker": "-H --host --context --config",
    "go": "-C",
    "uv": "--directory --project",
    "npm": "--prefix",
    "mv": "-S --suffix",
    "cp": "-S --suffix",
    "truncate": "-s --size -r --reference",
    "shred": "-n -s --iterations --size",
    "rsync": "-e -f -B -T -M --exclude --include --rsh",
    "sed": "-e -f -l --expression --file --line-length",
    "gsed": "-e -f -l --expression --file --line-length",
    "perl": "-e -E -I -M",
    "ruby": "-e -I -r",
    "awk": "-f -v -F -i --file",
    "gawk": "-f -v -F -i --file",
    "prettier": "--config --ignore-path --parser --plugin --print-width --tab-width",
    "eslint": "-c --config --ext -f --format -o --parser --plugin --max-warnings --ignore-pattern",
    "black": "-l --line-length -t --target-version --config --exclude --include -c",
    "isort": "-l --line-length --profile --settings-path -p -s --skip",
    "ruff format": "--config --line-length --target-version --exclude",
    "ruff check": "--config --line-length --target-version --exclude --select --ignore"
    " --extend-select --output-format",
    "autopep8": "--max-line-length --select --ignore --exclude",
    "yapf": "--style -e --exclude",
    "gofmt": "-r",
    "rustfmt": "--edition --config --config-path",
    "cargo fmt": "-p --package --manifest-path",
    "shfmt": "-i -ln",
    "bash": "-o -O +o +O --rcfile --init-file",
    "su": "-s -g -G --shell --group",
}
"""Options whose value is the next word, of programs and before their subcommands."""

_RUNNERS: dict[str, tuple[str, int]] = {
    # program that runs another one: options with a value, and operands before the other's name
    **dict.fromkeys(
        ("nohup", "setsid", "command", "builtin", "coproc", "unbuffer", "xvfb-run", "busybox"),
        ("", 0),
    ),
    "env": ("-u -C -P --unset --chdir", 0),
    "sudo": ("-u -g -h -p -C -D -R -T -U --user --group --host --prompt --chdir", 0),
    "doas": ("-u -C", 0),
    "exec": ("-a", 0),
    "time": ("-f -o --format --output", 0),
    "timeout": ("-k -s --kill-after --signal", 1),
    "gtimeout": ("-k -s --kill-after --signal", 1),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n -p --class --classdata", 0),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "chroot": ("", 1),
    "flock": ("-w -E --timeout --wait", 1),
    "xargs": ("-I -L -n -P -s -a -d -E --replace --max-args --max-procs --arg-file --delimiter", 0),
    "parallel": ("-I -j -n -N -P -a -S --jobs --max-procs --delay --timeout --retries", 0),
    "npx": ("-p -c --package", 0),
    "bunx": ("-p --package", 0),
    "uvx": ("--from --with -p --python", 0),
    "npm exec": ("-p --package", 0),
    "pnpm exec": ("", 0),
    "pnpm dlx": ("--package", 0),
    "yarn exec": ("", 0),
    "yarn dlx": ("-p --package", 0),
    "bundle exec": ("", 0),
    "uv run": ("--with --extra --group --package -p --python --env-file", 0),
    "poetry run": ("", 0),
    "pipenv run": ("", 0),
    "pdm run": ("-p --project", 0),
    "hatch run": ("", 0),
    "docker exec": ("-e -u -w --env --user --workdir --env-file", 1),
    "podman exec": ("-e -u -w --env --user --workdir --env-file", 1),
}
_REPEATING = frozenset(("xargs", "parallel"))
_LISTING = frozenset(("-v", "-V"))
"""With these `command` says what would run, and runs nothing."""
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "su"))
_JOINING: dict[str, tuple[str, int]] = {
    "eval": ("", 0),
    "watch": ("-n --interval", 0),
    "ssh": ("-p -i -l -o -F -J -L -R -D -b -c -e -I -m -O -Q -S -W -w -E -B", 1),
}
"""Programs that join their operands to a script; options with a value, operands before it."""
_DATABASES = frozenset(
    ("psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "duckdb", "sqlplus", "clickhouse-client")
)
_FINDING: dict[str, frozenset[str]] = {
    "find": frozenset(("-exec", "-execdir", "-ok", "-okdir")),
    **dict.fromkeys(("fd", "fdfind"), frozenset(("-x", "-X", "--exec", "--exec-batch"))),
}
"""Programs that find files, and their options behind which a command for these begins."""
_SAYING = frozenset(("echo", "printf"))


def _rules_by_name() -> dict[str, list[_Row]]:
    rules: dict[str, list[_Row]] = {}
    for row in _TABLE:
        rules.setdefault(row[0], []).append(row)
    return rules


_RULES = _rules_by_name()
_WITH_SUBCOMMANDS = frozenset(
    name.partition(" ")[0] for name in (*_RULES, *_RUNNERS) if " " in name
)


def destructive_reason(line: str) -> str:
    """Return why a shell line is destructive, such as `git reset --hard`; empty if it is not."""
    return _reason_of_script(line, depth=0)


def _reason_of_script(script: str, depth: int) -> str:
    for command in commands_of(script[:LONGEST]):
        if not all(map(_is_harmless_target, command.truncated)):
            return "> FILE"
        reason = _reason_of_words(command.words, command, depth=depth, is_repeated=False)
        if reason:
            return reason
    return _UNREAD if len(script) > LONGEST else ""


def _reason_of_words(
    words: list[str], command: SimpleCommand, *, depth: int, is_repeated: bool
) -> str:
    """Return why words of a command are destructive; `find -exec` runs a part of its words."""
    if depth > _DEEPEST:
        return _UNREAD
    for _ in range(_MOST_RUNNERS):
        words = _without_assignments(words)
        if not words:
            return ""
        name, arguments = _name_of(words)
        if name.startswith("python"):
            if arguments[:1] != ["-m"]:
                return ""
            words = arguments[1:]
        elif name in _RUNNERS:
            if name == "command" and not _LISTING.isdisjoint(arguments[:1]):
                return ""
            is_repeated |= name in _REPEATING
            words = _behind_operands(arguments, *_RUNNERS[name])
        else:
            break
    if name in _FINDING:
        for inner in _inner_commands(arguments, _FINDING[name]):
            reason = _reason_of_words(inner, command, depth=depth + 1, is_repeated=True)
            if reason:
                return reason
    elif script := _script_of(name, arguments, command):
        return _reason_of_script(script, depth + 1)
    if name in _DATABASES:
        return _statement_in(" ".join((*arguments, _input_of(command))))
    return _reason_by_table(name, arguments, is_repeated=is_repeated)


def _reason_by_table(name: str, words: list[str], *, is_repeated: bool) -> str:
    rules = _RULES.get(name)
    if rules is None:
        return ""
    values = frozenset(_VALUES.get(name, "").split())
    arguments = _Arguments(words, values, is_repeated=is_repeated)
    if arguments.option_among(_ALWAYS_HARMLESS):
        return ""
    for _, options, harmless, applies in rules:
        option = arguments.option_among(options.split())
        if options and not option:
            continue
        if not arguments.option_among(harmless.split()) and applies(arguments):
            return f"{name} {option}".rstrip()
    return ""


def _name_of(words: list[str]) -> tuple[str, list[str]]:
    """Return a command's program with as much of its subcommand as counts, and its arguments."""
    program = words[0].rpartition("/")[2].lower().removesuffix(".exe")
    program = program.partition("@")[0]  # a version, as in `npx prettier@3`
    arguments = words[1:]
    if program not in _WITH_SUBCOMMANDS:
        return ("mkfs" if program.startswith("mkfs.") else program), arguments
    values = _VALUES.get(program, "")
    if program == "cargo" and arguments[:1] and arguments[0][:1] == "+":
        arguments = arguments[1:]  # a toolchain
    arguments = _behind_operands(arguments, values, 0)
    for length in (2, 1):
        name = " ".join((program, *arguments[:length]))
        if name in _RULES or name in _RUNNERS:
            return name, arguments[length:]
    return program, arguments


def _without_assignments(words: list[str]) -> list[str]:
    for place, word in enumerate(words):
        name, equals, _ = word.partition("=")
        if not equals or not name.rstrip("+").isidentifier():
            return words[place:]
    return []


def _behind_operands(words: list[str], values: str, operands: int) -> list[str]:
    """Leave out a program's options, and so many operands and assignments, at the beginning."""
    with_value = frozenset(values.split())
    is_value = is_ended = False
    for place, word in enumerate(words):
        if is_value:
            is_value = False
        elif word == "--" and not is_ended:
            is_ended = True
        elif word[:1] == "-" and len(word) > 1 and not is_ended:
            is_value = _takes_next_word(word, with_value)
        elif operands:
            operands -= 1
        else:
            return words[place:]
    return []


def _inner_commands(words: list[str], starts: frozenset[str]) -> list[list[str]]:
    """Return the commands that `find -exec` and the like run for what they find."""
    commands: list[list[str]] = []
    is_inside = False
    for word in words:
        if is_inside and word in (";", "+"):
            is_inside = False
        elif is_inside:
            commands[-1].append(word)
        elif word in starts:
            commands.append([])
            is_inside = True
    return commands


def _script_of(name: str, words: list[str], command: SimpleCommand) -> str:
    """Return the text that a program runs as a script, empty if it does not or nobody sees it."""
    if name in _JOINING:
        return " ".join(_behind_operands(words, *_JOINING[name]))
    if name not in _SHELLS:
        # `parallel 'rm {}'` has a whole script for a name.
        return " ".join((name, *words)) if " " in name and name not in _RULES else ""
    values = frozenset(_VALUES["su" if name == "su" else "bash"].split())
    arguments = _Arguments(words, values, is_repeated=False)
    if arguments.option_among(["-c", "--command"]):
        if name == "su":
            # `su - USER -c SCRIPT`: the script is behind its option, wherever that is.
            place = next(at for at, word in enumerate(words) if word in ("-c", "--command"))
            return "".join(words[place + 1 : place + 2])
        return "".join(arguments.operands[:1])
    is_reading = not arguments.operands or arguments.option_among(["-s"])
    return _input_of(command) if is_reading else ""


def _input_of(command: SimpleCommand) -> str:
    """Return what a command reads, as far as the line itself says it."""
    feeder = command.feeder
    if command.input or feeder is None:
        return command.input
    words = feeder.words[1:] if feeder.words[:1] and feeder.words[0] in _SAYING else []
    return " ".join((*words, feeder.input))


def _statement_in(text: str) -> str:
    normalized = " ".join(text.lower().split())
    return next((statement for statement in _STATEMENTS if statement in normalized), "")
