"""Which programs a shell line runs: behind `sudo`, `xargs`, `find -exec` and `bash -c` as well.

`scanner` takes the line apart; here its words get their meaning.
"""

from __future__ import annotations

from gitguard.model.shell.scanner import PIPES, ShellLine, SimpleCommand, commands_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


LONGEST = 1 << 16
"""Characters of a command that are read."""
UNREAD = "\0"
"""Stands for what nothing read, because it is too long or too deep."""
_DEEPEST = 8
"""Scripts in scripts, as in `sh -c "sh -c …"`, that are read."""
_MOST_RUNNERS = 16
"""Programs in front of another one, as in `sudo nice timeout 5 rm x`, that are seen through."""
_MOST_CHARACTERS = 4 * LONGEST
"""Of a line and the scripts in it: `find -exec sh` runs what it reads once for each `-exec`."""


class Arguments:
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


VALUES: dict[str, str] = {
    "git": "-C -c --git-dir --work-tree --namespace --config-env",
    "git branch": "-u --set-upstream-to --contains --no-contains --merged --sort",
    "git checkout": "-B -b --orphan --conflict --pathspec-from-file",
    "git push": "-o --push-option --repo --receive-pack",
    "git restore": "-s --source --conflict",
    "git stash": "-m --message --pathspec-from-file",
    "git apply": "-p -C --directory --exclude --include --whitespace",
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
    "patch": "-p -i -d -o -r -F -D -B -V -Y -z -g --strip --input --directory --output",
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

RUNNERS: dict[str, tuple[str, int]] = {
    # program that runs another one: options with a value, and operands before the other's name;
    # with -1 the other stands behind `--`
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
    **dict.fromkeys(
        ("aws-vault exec", "doppler run", "kubectl exec", "mise exec", "op run"), ("", -1)
    ),
    "docker exec": ("-e -u -w --env --user --workdir --env-file", 1),
    "podman exec": ("-e -u -w --env --user --workdir --env-file", 1),
}
_REPEATING = frozenset(("xargs", "parallel"))
_LISTING = frozenset(("-v", "-V"))
"""With these `command` says what would run, and runs nothing."""
SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "su"))
INTERPRETERS = (
    *("python", "pypy", "ipython", "node", "deno", "bun", "ruby", "perl", "php", "lua", "tclsh"),
    *("awk", "gawk", "osascript", "rscript", "irb", "ts-node", "tsx"),
)
"""How the names of programs begin that run code."""
_JOINING: dict[str, tuple[str, int]] = {
    **dict.fromkeys(("eval", "trap"), ("", 0)),
    "watch": ("-n --interval", 0),
    "ssh": ("-p -i -l -o -F -J -L -R -D -b -c -e -I -m -O -Q -S -W -w -E -B", 1),
}
"""Programs that join their operands to a script; options with a value, operands before it."""
FINDING: dict[str, frozenset[str]] = {
    "find": frozenset(("-exec", "-execdir", "-ok", "-okdir")),
    **dict.fromkeys(("fd", "fdfind"), frozenset(("-x", "-X", "--exec", "--exec-batch"))),
}
"""Programs that find files, and their options behind which a command for these begins."""
_SAYING = frozenset(("echo", "printf"))


_WITH_RUNNERS = frozenset(name.partition(" ")[0] for name in RUNNERS if " " in name)


class ShellProgram:
    """A program that a shell line runs, whatever starts it."""

    __slots__ = ("before", "command", "is_repeated", "name", "words")

    def __init__(
        self,
        name: str,
        words: list[str],
        command: SimpleCommand,
        *,
        before: list[str],
        is_repeated: bool = False,
    ) -> None:
        self.name = name
        """Without its folder and version, in lower case; `UNREAD` for what is too long or deep."""
        self.words = words
        """What stands behind the name."""
        self.command = command
        """The simple command in which it runs."""
        self.before = before
        """What stands in front of the name: assignments and the programs that start it."""
        self.is_repeated = is_repeated
        """Whether `xargs` or `find` names more operands."""

    @property
    def input(self) -> str:
        """What it reads, as far as the line itself says it."""
        return input_of(self.command)

    @property
    def subcommand(self) -> str:
        """The first word behind its options, empty if there is none."""
        return "".join(behind_operands(self.words, VALUES.get(self.name, ""), 0)[:1])


def programs_of(line: str) -> Iterator[ShellProgram]:
    """Yield the programs that a shell line runs, those in its scripts as well.

    A command that runs none, as `> file`, is one without a name.
    """
    return _Programs().of_script(line, 0)


class _Programs:
    """Looks for the programs of a line and of its scripts, up to a size of all together."""

    def __init__(self) -> None:
        self._characters = _MOST_CHARACTERS

    def of_script(self, script: str, depth: int) -> Iterator[ShellProgram]:
        """Yield the programs that a script runs."""
        self._characters -= min(len(script), LONGEST)
        is_read = depth <= _DEEPEST and self._characters >= 0
        for command in commands_of(script[:LONGEST]) if is_read else ():
            if command.words or command.redirections:
                yield from self._of_words(command.words, command, depth)
        if not is_read or len(script) > LONGEST:
            yield ShellProgram(UNREAD, [], SimpleCommand(), before=[])

    def _of_words(
        self, words: list[str], command: SimpleCommand, depth: int, *, is_repeated: bool = False
    ) -> Iterator[ShellProgram]:
        """Yield what a command runs; `find -exec` runs a part of its words."""
        if depth > _DEEPEST:
            yield ShellProgram(UNREAD, [], command, before=words)
            return
        program = started_program(words, command)
        if program is None:
            return
        program.is_repeated |= is_repeated
        yield program
        if program.name in FINDING:
            for inner in _inner_commands(program.words, FINDING[program.name]):
                yield from self._of_words(inner, command, depth + 1, is_repeated=True)
        elif script := script_of(program):
            yield from self.of_script(script, depth + 1)


def started_program(all_words: list[str], command: SimpleCommand) -> ShellProgram | None:
    """Return the program that words start, seen through `sudo` and the like; None for none."""
    words, name, is_repeated = all_words, "", False
    arguments = words[:0]
    for _ in range(_MOST_RUNNERS):
        words = _without_assignments(words)
        name, arguments = _name_of(words) if words else ("", [])
        module = _module_words(arguments) if name.startswith("python") else []
        if module:
            words = module
        elif name in RUNNERS:
            if name == "command" and not _LISTING.isdisjoint(arguments[:1]):
                return None
            is_repeated |= name in _REPEATING
            words = behind_operands(arguments, *RUNNERS[name])
        else:
            break
    before = all_words[: len(all_words) - len(arguments) - 1]
    return ShellProgram(name, arguments, command, before=before, is_repeated=is_repeated)


def _module_words(arguments: list[str]) -> list[str]:
    """Return the module that Python runs by `-m`, and its arguments; empty if it runs none."""
    for place, word in enumerate(arguments):
        if word == "-m":
            return arguments[place + 1 :]
        if word.startswith("-m"):
            return [word[2:], *arguments[place + 1 :]]
        if word[:1] != "-" or "c" in word:
            return []
    return []


def _name_of(words: list[str]) -> tuple[str, list[str]]:
    """Return a command's program, with the subcommand that runs another, and its arguments."""
    program = words[0].rpartition("/")[2].lower().removesuffix(".exe")
    program = program.partition("@")[0]  # a version, as in `npx prettier@3`
    arguments = words[1:]
    if program in _WITH_RUNNERS:
        after = behind_operands(arguments, VALUES.get(program, ""), 0)
        name = " ".join((program, *after[:1]))
        if name in RUNNERS:
            return name, after[1:]
    return program, arguments


def _without_assignments(words: list[str]) -> list[str]:
    for place, word in enumerate(words):
        name, equals, _ = word.partition("=")
        if not equals or not name.rstrip("+").isidentifier():
            return words[place:]
    return []


def behind_operands(words: list[str], values: str, operands: int) -> list[str]:
    """Leave out a program's options, and so many operands and assignments, at the beginning."""
    if operands < 0:
        return words[words.index("--") + 1 :] if "--" in words else []
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


def script_of(program: ShellProgram) -> str:
    """Return the text that a program runs as a script, empty if it does not or nobody sees it."""
    name, words = program.name, program.words
    if name in _JOINING:
        return " ".join(behind_operands(words, *_JOINING[name]))
    if name not in SHELLS:
        # `parallel 'rm {}'` has a whole script for a name.
        return " ".join((name, *words)) if " " in name else ""
    values = frozenset(VALUES["su" if name == "su" else "bash"].split())
    arguments = Arguments(words, values, is_repeated=False)
    if arguments.option_among(["-c", "--command"]):
        if name == "su":
            # `su - USER -c SCRIPT`: the script is behind its option, wherever that is.
            place = next(at for at, word in enumerate(words) if word in ("-c", "--command"))
            return "".join(words[place + 1 : place + 2])
        return "".join(arguments.operands[:1])
    is_reading = not arguments.operands or arguments.option_among(["-s"])
    return program.input if is_reading else ""


def input_of(command: SimpleCommand) -> str:
    """Return what a command reads, as far as the line itself says it."""
    feeder = command.feeder
    if command.input or feeder is None:
        return command.input
    words = feeder.words[1:] if feeder.words[:1] and feeder.words[0] in _SAYING else []
    return " ".join((*words, feeder.input))


def deciding_commands(line: ShellLine) -> list[SimpleCommand]:
    """Return the commands on which a line's exit code depends; none where that is unclear."""
    deciding: list[SimpleCommand] = []
    joint = ""
    for command in line.commands:
        if command.is_substituted:
            continue
        if not is_plain_step(command) or joint in ("||", "&"):
            return []
        if joint in (*PIPES, ";", "\n"):
            deciding = []
        deciding.append(command)
        joint = command.joint
    return deciding if line.is_complete and joint != "&" else []


def is_plain_step(command: SimpleCommand) -> bool:
    """Say whether a command is plainly one after the other of its line."""
    return not (command.is_substituted or command.is_grouped or {*command.keywords} - {"!"})
