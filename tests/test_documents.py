"""Every sentence of the documents that a program can check: names, numbers and places exist."""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from gitguard import errors
from gitguard.cli.app import app
from gitguard.hosts.claude_code.hooks import HOOK_EVENTS
from gitguard.model.config.config import Config
from gitguard.model.record import Record
from gitguard.sessions.stored_sessions import StoredConversation
from tests.generating import generate_references as generated
from tests.support.house import DOORS, FLOORS, HOUSED, room_of
from tests.support.pages import PAGES, ROOT, on_every

OTHERS_OPTIONS = frozenset({"--local", "--force", "--mirror", "--show-signature", "--no-textconv"})
"""Options of OpenClaw and git that the documents name by themselves."""
OTHERS_SETTINGS = frozenset(
    {
        *("compaction.enabled", "compaction.auto", "compaction.prune", "compaction.reserved"),
        *("compaction.reserveTokens", "compaction.tail_turns"),
        "session.json",
    }
)
"""Settings of hosts and a file, named as settings of ours might be."""
EXAMPLES = {"summary-example.md", "resume-example.md"}
"""Pages that show the state of a made-up project."""


@cache
def spans(page: Path) -> list[str]:
    """Return what stands in code spans, outside of code blocks."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", " ".join(text.split("\n\n")).replace("\n", " "))


on_every_page = on_every(PAGES)


COMMANDS = dict(generated.commands())
OPTIONS = {option for command in COMMANDS.values() for p in command.params for option in p.opts}
COMMON = {option for parameter in app.params for option in parameter.opts} | {"--help", "-h"}


def command_in(words: list[str]) -> tuple[str, click.Command] | None:
    """Return the command that a command line names, and its name."""
    name = ["gitguard"]
    for word in words[1:]:
        if word.startswith("-") and len(name) == 1:
            continue
        name.append(word)
        found = COMMANDS.get(" ".join(name))
        if found is not None:
            return " ".join(name), found
    return None


@on_every_page
def test_an_option_is_one_of_the_command_that_it_stands_with(page: Path) -> None:
    for span in spans(page):
        words = span.split()
        found = command_in(words) if words[:1] == ["gitguard"] else None
        if found is None:
            continue
        name, command = found
        allowed = COMMON | {option for p in command.params for option in p.opts}
        options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert options <= allowed, f"`{span}`: {name} has no {options - allowed}"


@on_every_page
def test_an_option_that_stands_alone_is_one_of_ours(page: Path) -> None:
    for span in spans(page):
        option = re.fullmatch(r"(--[a-z][a-z-]*)(?:[ =].*)?", span)
        if option:
            assert option[1] in OPTIONS | COMMON | OTHERS_OPTIONS, f"`{span}`"


def keys(record: type[Record] = Config, prefix: str = "") -> Iterator[str]:
    for name, kind in record.kinds.items():
        yield prefix + name
        if kind.record is not None:
            yield from keys(kind.record, f"{prefix}{name}.")


SECTIONS = {name for name, kind in Config.kinds.items() if kind.shape == "record"}


@on_every_page
def test_a_setting_that_is_named_exists(page: Path) -> None:
    known = set(keys())
    for span in spans(page):
        match = re.fullmatch(r"([a-z_]+)\.([a-z_]+)(?:\.[\w./-]+)?(?:: .*)?", span)
        if match and match[1] in SECTIONS and span not in OTHERS_SETTINGS:
            assert f"{match[1]}.{match[2]}" in known, f"`{span}`"


CODES = {error.exit_code for error in generated.error_classes()}


@on_every_page
def test_an_exit_code_that_is_named_is_one_of_ours(page: Path) -> None:
    text = " ".join(page.read_text().split())
    for code in re.findall(r"\b(?:exit codes?|exits with|ends with) (\d+)\b", text):
        assert int(code) in CODES | {0, 2}, f"exit code {code}"


@on_every_page
def test_a_file_of_the_repository_that_is_named_exists(page: Path) -> None:
    # The one tells of what was, the others of a made-up project.
    for span in spans(page) if page.name not in EXAMPLES | {"CHANGELOG.md"} else ():
        match = re.fullmatch(r"((?:[a-z_]+/)+[\w.-]+\.(?:py|md|js|j2|yaml|json))(?:::\w+)?", span)
        if match and match[1].split("/")[0] in ("gitguard", "tests", "templates", "references"):
            assert (ROOT / match[1]).exists(), f"`{span}`"
        elif match and (ROOT / "gitguard" / match[1].split("/")[0]).is_dir():
            assert (ROOT / "gitguard" / match[1]).exists(), f"`{span}`"


def test_the_recipes_name_what_is_in_the_files() -> None:
    recipes = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    named = re.findall(r"`(\w+)` in `((?:gitguard|tests)/[\w/]+\.py)`", recipes)
    assert named
    for name, path in named:
        assert re.search(rf"\b{name}\b", (ROOT / path).read_text()), f"`{name}` in `{path}`"


@on_every_page
def test_a_module_or_a_target_that_is_named_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for span in spans(page):
        if re.fullmatch(r"make [a-z-]+", span):
            assert span.removeprefix("make ") in targets, f"`{span}`"
        module = re.fullmatch(r"python -m (tests(?:\.\w+)+)\b.*", span)
        if module:
            assert importlib.util.find_spec(module[1]) is not None, f"`{span}`"


PROGRAMS = [*(ROOT / "gitguard").rglob("*.py"), *(ROOT / "templates").rglob("*.sh")]
SOURCE = "\n".join(path.read_text() for path in PROGRAMS)


@on_every_page
def test_a_signal_a_variable_or_an_error_that_is_named_is_in_the_code(page: Path) -> None:
    kinds = {error.__name__ for error in generated.error_classes()}
    for span in spans(page):
        for name in re.findall(r"\bSTATUS:[A-Z_]+|\bGITGUARD_[A-Z_]+", span):
            assert name in SOURCE, f"`{span}`"
        if span in vars(errors):
            assert span in kinds | {"GitguardError", "StatusSignal"}, f"`{span}`"


def anchor_of(heading: str) -> str:
    """Return what a link into a page calls a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def headings(page: Path) -> set[str]:
    lines = (line for line in page.read_text().splitlines() if line.startswith("#"))
    return {anchor_of(line.lstrip("# ")) for line in lines}


@on_every_page
def test_a_link_into_a_page_leads_to_a_heading(page: Path) -> None:
    text = re.sub(r"`[^`]*`", "", page.read_text())
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
        if not target.startswith("https://"):
            assert anchor in headings(page.parent / target if target else page), anchor


SOURCES = sorted(path for room in ("gitguard", "tests") for path in (ROOT / room).rglob("*.py"))
CITATION = re.compile(r'(references/[\w/-]+\.md)(?:,\s+"([^"]+)")?')
"""A page as comments and docstrings cite it, with or without one of its headings."""


@on_every(SOURCES)
def test_a_page_that_the_code_cites_is_in_the_repository(source: Path) -> None:
    for page, heading in CITATION.findall(source.read_text()):
        assert (ROOT / page).is_file(), page
        assert not heading or anchor_of(" ".join(heading.split())) in headings(ROOT / page), heading


@on_every(SOURCES)
def test_the_code_cites_no_numbered_section_and_no_other_document(source: Path) -> None:
    text = source.read_text()
    assert not re.findall(r"\b[A-Z]{4,} sections? \d|^Source: [A-Z]", text, re.MULTILINE)


def test_the_readme_is_short_and_has_its_two_commands_on_top() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 130
    first_headings = [line for line in lines if line.startswith("## ")][:2]
    assert first_headings == ["## Two commands", "## Install"]
    table = [line.split(" | ")[0] for line in lines[: lines.index("## Install")] if "`make" in line]
    assert table == ["| `make demo`", "| `make test`"]


STUMBLES = re.compile(
    r"[Dd]eath spiral|` is no (?!longer)|look after the disk|reads nobody|so that the host compacts"
    r"|(file|transcript|that|they) (does|do|did) not read\b|Nothing was recorded under|Became known"
    r"|the commit is pending|begins with what|task stays there|keeps first what|failure, holds"
    r"|may come without pressure|holds a session until|takes\s+it for a file that a crash"
)
"""Sentences at which readers stopped."""
WORDED = sorted({*PAGES, *(ROOT / "templates").rglob("*.j2"), *(ROOT / "gitguard").rglob("*.py")})


@on_every(WORDED)
def test_no_text_has_a_sentence_at_which_readers_stopped(source: Path) -> None:
    assert not STUMBLES.search(source.read_text())


def test_the_tree_of_errors_names_every_error() -> None:
    tree = re.findall(r"^ +[│├└─ ]*([A-Z]\w+) ", errors.__doc__ or "", re.MULTILINE)
    raised = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
    assert set(tree) - {"Errors", "A"} == {name for name in raised if name[0].isupper()}


def test_the_page_of_sessions_names_what_is_told_of_a_conversation() -> None:
    lines = (ROOT / "references" / "design" / "sessions.md").read_text().splitlines()
    table = lines[lines.index("| field | what it is |") + 2 :]
    rows = itertools.takewhile(lambda line: line.startswith("| "), table)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split(" | ")[0])}
    assert named == set(StoredConversation.field_names)


def test_the_page_of_hosts_has_a_row_for_every_hook_of_claude_code() -> None:
    lines = (ROOT / "references" / "guides" / "hosts.md").read_text().splitlines()
    table = lines[lines.index("| hook | what gitguard does |") + 2 :]
    rows = itertools.takewhile(lambda line: line.startswith("| "), table)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split(" | ")[0])}
    assert named == set(HOOK_EVENTS)


def test_the_page_of_the_architecture_has_the_rooms_in_the_order_of_their_floors() -> None:
    text = (ROOT / "references" / "design" / "architecture.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", text.split("## Rooms")[1].split("Each library")[0], re.M)
    rooms = [set(re.findall(r"`([\w/]+?)(?:/|\.py)`", row)) for row in rows]
    there = {room_of(module) for module in HOUSED}
    assert rooms == [floor & there for floor in reversed(FLOORS)]


def test_the_page_of_the_architecture_names_every_door() -> None:
    text = (ROOT / "references" / "design" / "architecture.md").read_text()
    table = text.split("Each library has one door:")[1].split("The user's own status line")[0]
    doors = {f"`{door}`" for modules in DOORS.values() for door in modules}
    missing = {door for door in doors if door not in table} - {"`cli/status_line.py`"}
    assert not missing
