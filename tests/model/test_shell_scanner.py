"""Shell lines are read as bash reads them: words, joints, redirections and here-documents."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.hooks.shell_commands import only_mentions, own_command, owner_command
from gitguard.model.checks import checks_of
from gitguard.model.outcome import is_answer, is_wrong_guess
from gitguard.model.shell.destructive import destructive_reason
from gitguard.model.shell.scanner import (
    PIPES,
    ShellLine,
    SimpleCommand,
    commands_of,
    read_line,
    with_short_bodies,
)
from gitguard.model.shell.writes import writes_of

# What bash says: every command is a function that writes down its words and its input, ends well
# or not by its name, and prints what the scanner writes for what it cannot know.

T = TypeVar("T")
NAMES = ["well1", "well2", "ill1", "ill2"]
FUNCTIONS = "".join(
    f"{name}() {{ local input=; [ -p /dev/stdin ] && IFS= read -r -d '' input\n"
    f'  printf \'%s\\0\' {name} "$@" "$input" > records/$BASHPID.$((++number))\n'
    f"  printf '$'; return {status}; }}\n"
    for name, status in zip(NAMES, (0, 0, 1, 1), strict=True)
)
SETTING = f"shopt -s extglob; x='$x'; exec </dev/null >/dev/null\n{FUNCTIONS}"
SEEDS = range(200)


class Lines:
    """Makes a shell line from a seed; all it can do is to write f0 to f8."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._bodies: list[str] = []

    def line(self) -> str:
        line = self._pipeline()
        for _ in range(self._random.randrange(4)):
            line += self._ended(self._choose(" && ", " || ", "; ", "\n", " & ", "&&", " # 'x\n"))
            line += self._group() if line[-1] in ";\n" else self._pipeline()
        return line + self._ended(self._choose("\n", " # end; well1\n") if self._bodies else "")

    def _ended(self, joint: str) -> str:
        bodies = "".join(self._bodies) if joint[-1:] == "\n" else ""
        self._bodies = [] if bodies else self._bodies
        return joint + bodies

    def _group(self) -> str:
        begin, end = self._choose(("( ", " )"), ("(", ")"), ("{ ", "; }"), ("", ""))
        inner = self._pipeline()
        while self._choose(False, False, True):
            inner += f"{self._choose(' && ', '; ', ' || ')}{self._command()}"
        return f"{begin}{inner}{end}"

    def _pipeline(self) -> str:
        line = self._choose("", "", "", "! ") + self._command()
        for _ in range(self._choose(0, 0, 0, 1, 2)):
            line += self._choose(" | ", "|", " |& ", " |") + self._ended(self._choose("", "\n"))
            line += self._command()
        return line

    def _command(self, depth: int = 0) -> str:
        words = [self._word(depth) for _ in range(self._random.randrange(4))]
        redirection = self._choose("", "", "", f"2>>f{self._random.randrange(9)}", "2>&1")
        if depth == 0 and self._random.random() < 0.15:
            redirection = self._here_document()
        name = self._choose("", "", "A=1 ", "A='x y' ") + self._choose(*NAMES)
        name = self._choose(name, name, f">f7 {name}", f">&2 {name}") if depth == 0 else name
        space: str = self._choose(" ", " ", "  ", "\t", " \\\n")
        return space.join(filter(None, [name, *words, redirection]))

    def _here_document(self) -> str:
        operator = self._choose("<<", "<<-", "<< ")
        written, delimiter = self._choose(
            ("E", "E"), ("'E F'", "E F"), ('"E"F', "EF"), ("\\E", "E")
        )
        text = self._choose("a 'b\n", "one\ntwo $x\n", "", ";well1 | #\n", "\tx\n")
        body = f"{text}{delimiter}\n"
        self._bodies.append(body.replace("\n", "\n\t")[:-1] if operator == "<<-" else body)
        return f"{operator}{written}"

    def _word(self, depth: int) -> str:
        return "".join(self._part(depth) for _ in range(self._choose(1, 1, 2, 3)))

    def _part(self, depth: int) -> str:
        quoted = "".join(self._choose(*"ab ;|&<>()#\\\n\t{}*'\"`$") for _ in range(4))
        double = "".join(f"\\{c}" if c in '"\\$`' else c for c in quoted)
        inner = self._command(depth + 1) if depth < 2 else "well1"
        part: str = self._choose(
            self._choose("a", "-b", "c=d", "e/f", "7", ",", "{", "é", "a#b", "!", "if", "%", "]"),
            "'" + quoted.replace("'", "") + "'",
            f'"{double}"',
            "\\" + self._choose(*" ;|&<>()#'\"\\$`ab*\n"),
            "$'" + self._choose("a\\nb", "\\x41\\102", "it\\'s", "\\\\", "\\t", "a b;c") + "'",
            self._choose("${x}", '"$x y"', "${x:-a b}", '"${x:-a b}"'),
            self._choose(f"$({inner})", f'"$({inner})"', f'"$( {inner} ; )"', f"$({inner}; )"),
        )
        return part

    def _choose(self, *choices: T) -> T:
        return self._random.choice(choices)


def run_in_bash(line: str, folder: Path) -> tuple[list[list[str]], set[str]]:
    """Return the commands that bash runs, each with its words and its input, and files written."""
    bash = shutil.which("bash")
    assert bash is not None
    (folder / "records").mkdir()
    script = f"{SETTING}\n{line}\nwait"
    done = subprocess.run(
        [bash, "--norc", "-c", script],
        cwd=folder,
        env={"PATH": "/nowhere", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert done.stderr.strip("$") == "", done.stderr
    records = [path.read_text().split("\0")[:-1] for path in (folder / "records").iterdir()]
    return records, {path.name for path in folder.iterdir()} - {"records"}


def run_by_scanner(line: ShellLine) -> list[SimpleCommand]:
    """Return the commands that run by their joints, where the name of each says how it ends."""
    running: list[SimpleCommand] = []
    failed = is_run = False
    joint = ";"
    steps = [command for command in line.commands if not command.is_substituted]
    for step in steps:
        if joint not in PIPES:
            is_run = joint not in ("&&", "||") or failed == (joint == "||")
            is_inverted = "!" in step.keywords
        running += [step] if is_run and step.words else []
        if is_run and step.words:
            failed = name_of(step).startswith("ill") != is_inverted
        joint = step.joint
    ran = [span for step in running for span in step.spans]
    running += [
        command
        for command in line.commands
        if command.is_substituted and any(begin < command.spans[0][0] < end for begin, end in ran)
    ]
    return running


def words_of(command: SimpleCommand) -> list[str]:
    begin = next(at for at, word in enumerate(command.words) if word in NAMES)
    return command.words[begin:]


def name_of(command: SimpleCommand) -> str:
    return words_of(command)[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_words_joints_and_here_documents_are_those_of_bash(seed: int, tmp_path: Path) -> None:
    text = Lines(seed).line()
    line = read_line(text)
    records, files = run_in_bash(text, tmp_path)
    running = run_by_scanner(line)
    assert sorted(words for *words, _ in records) == sorted(map(words_of, running)), text
    inputs = {(*command.words[-1:], command.input) for command in running if command.input}
    assert inputs <= {(words[-1], read) for *words, read in records}, text
    assert files == {path for command in running for path in command.written}, text
    assert line.is_complete, text


# What bash is not asked


@pytest.mark.parametrize(
    ("line", "joints"),
    [
        ("a; b && c || d | e |& f & g\nh", [";", "&&", "||", "|", "|&", "&", "\n", ""]),
        ("(a; b) && c", [";", "&&", ""]),
        ("{ a; b; } > f | c", [";", ";", "|", ""]),
        ("(a) > f; c", [";", ";", ""]),
        ("a # x\nb; # y", ["\n", ";"]),
        ("if a; then b; fi && c", [";", ";", "&&", ""]),
        ("case x in y) a;; z) b;; esac; c", [";", ";", ";", ";", ""]),
        ("for ((i=9; i>3; i--)); do a; done", [";", ";", ""]),
    ],
)
def test_what_stands_behind_a_group_stands_behind_its_last_command(
    line: str, joints: list[str]
) -> None:
    assert [command.joint for command in commands_of(line)] == joints


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("echo `rm \\`ls a\\``", [["echo", "$"], ["rm", "$"], ["ls", "a"]]),
        ("function f { rm b; }", [["function", "f", "{"], ["rm", "b"], []]),
        ("cat <<E\nrm b $(ls)\nE", [["cat"], ["ls"]]),
        ("cat <<-E\n\ta\n\tE\nls", [["cat"], ["ls"]]),
        (
            "case $x in rm | mv) ls;; (a) cd;& *) cd b; esac",
            [["case", "$x", "in"], ["ls"], ["cd"], ["cd", "b"], []],
        ),
        ("a=(rm b); ls", [["a="], ["ls"]]),
        ("ls a\r", [["ls", "a\r"]]),
        ("'if' a \"2\">f", [["if", "a", "2"]]),
        ('echo "${x:-it\'s}"; rm b', [["echo", "$x"], ["rm", "b"]]),
    ],
)
def test_words_are_those_that_a_shell_hands_on(line: str, words: list[list[str]]) -> None:
    assert [command.words for command in commands_of(line)] == words


PIECES = st.sampled_from(
    [
        *"'\"\\`$(){}[]<>;&|#=-+*? \n\t",
        "$(",
        "${",
        "<<E",
        "<<-'E'\n",
        "E\n",
        "[[",
        "]]",
        "case",
        "esac",
    ]
    + ["in", "if", "fi", "function", "for", "a", "7", "$'", "\\x", "é", "\0", "\ud800"]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join), st.lists(PIECES).map(" ".join)))
def test_any_text_is_read_to_its_end_and_every_word_has_its_place(text: str) -> None:
    for command in (*read_line(text).commands, *read_line(text).texts):
        assert len(command.spans) == len(command.words)
        assert all(0 <= begin < end <= len(command.text) for begin, end in command.spans)


@given(st.lists(PIECES).map(" ".join), st.sampled_from(["'", '"', "$(", "(", "`", "cat <<E\n"]))
def test_a_line_that_does_not_end_what_it_begins_is_told(text: str, opening: str) -> None:
    line = read_line(f"ls {opening}a")
    assert not line.is_complete
    assert not line.is_plain
    assert isinstance(read_line(f"{text} {opening}").is_complete, bool)


PROGRAMS = [
    "gitguard",
    "pytest",
    "make",
    "git",
    "stash",
    "timeout",
    "-k",
    "cd",
    "python",
    "-m",
    "-c",
]
PROGRAMS += ["find", "-exec", "xargs", "bash", "sudo", "tee", "cp", "grep", "eval", "&&", "||", "…"]


@given(st.lists(PIECES | st.sampled_from(PROGRAMS)).map(" ".join))
def test_whoever_asks_for_a_line_gets_an_answer(line: str) -> None:
    for check in checks_of(line):
        assert 0 <= check.place <= check.leads_to
    for is_so in (is_answer(line, "Exit code 1"), is_wrong_guess(line, "Exit code 1")):
        assert isinstance(is_so, bool)
    assert isinstance(destructive_reason(line, ("make a", "-k"), bool), str)
    assert isinstance(owner_command(line) + own_command(line, "", ""), str)
    assert isinstance(only_mentions(line), bool)
    assert writes_of(line) == writes_of(line)


def test_a_line_works_in_the_one_folder_that_it_changes_to() -> None:
    assert writes_of("cd a b; cd && make").folders == ("a", "~")


@given(
    st.lists(st.integers(0, 90), min_size=1, max_size=4), st.sampled_from(["EOF", "'EOF'"]),
    st.integers(200, 2_000),
)  # fmt: skip
def test_long_here_documents_are_cut_and_the_commands_behind_them_are_not(
    lines: list[int], delimiter: str, most: int
) -> None:
    text = "a line of it\n"
    writes = [f"cat > f <<{delimiter} && x\n{text * number}EOF\n" for number in lines]
    line = "".join((*writes, 'gh pr create --body "$(cat <<EOF\nshort\nEOF\n)"'))
    shortened = with_short_bodies(line, most)
    assert len(shortened) <= max(most, len(line) - len(text) * sum(lines) + 2 * len(lines))
    assert len(line) > most or shortened == line
    words = [command.words for command in commands_of(line)]
    assert [command.words for command in commands_of(shortened)] == words
