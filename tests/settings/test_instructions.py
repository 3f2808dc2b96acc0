"""The section in `AGENTS.md` or `CLAUDE.md` for agents whose host has no hooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, NotConfirmed
from gitguard.guard import Guard
from gitguard.hosts.base import InstallOptions
from gitguard.rendering import template_source
from gitguard.settings.instructions_section import with_section, without_section
from tests.conftest import Git, OpenGuard
from tests.support import forked

NONE = "none"
EXECUTABLE = str(Path(sys.executable).with_name("gitguard"))
MINE = InstallOptions(EXECUTABLE)
TEXT = template_source("instructions.md")


@pytest.fixture
def guard(open_guard: OpenGuard, hermetic_seal: Path) -> Guard:
    return open_guard(home=str(hermetic_seal))


@pytest.fixture
def agents(repo: Path) -> Path:
    return repo / "AGENTS.md"


@pytest.fixture
def claude(repo: Path) -> Path:
    return repo / "CLAUDE.md"


def gitguard(repo: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return forked.run(["gitguard", *arguments], repo, os.environ)


# --- The section as bytes

LINES = st.lists(st.sampled_from(["", "# Mine", "text", " ", "é", "@AGENTS.md", "<!-- x -->"]))
ENDS = st.sampled_from(["\n", "\r\n"])


@given(lines=LINES, newline=ENDS, end=st.sampled_from(["", "\n", "\r\n", "\n\n", "\r", "\ufeff"]))
@example(lines=["a"], newline="\n", end="\r")
def test_every_byte_comes_back(lines: list[str], newline: str, end: str) -> None:
    original = (newline.join(lines) + end).encode()
    written = with_section(original, "x", TEXT)
    assert with_section(written, "x", TEXT) == written
    assert without_section(written, "x") == (original or None)


@given(lines=LINES, newline=ENDS, added=st.sampled_from(["more\n", "more", "\nmore\r\n"]))
def test_what_somebody_adds_around_the_section_stays(
    lines: list[str], newline: str, added: str
) -> None:
    original = newline.join(["# Mine", *lines, ""])
    written = with_section(original.encode(), "x", TEXT).decode()
    assert (
        without_section((added + written + added).encode(), "x")
        == (added + original + added).encode()
    )


def test_the_section_has_the_line_ends_of_its_file() -> None:
    written = with_section(b"# Mine\r\ntext", "x", TEXT)
    assert written.count(b"\n") == written.count(b"\r\n")
    assert b"\r" not in with_section(b"# Mine\ntext", "x", TEXT)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_section_is_known_after_git_changed_its_line_ends(newline: str) -> None:
    written = with_section(b"# Mine\n", "x", TEXT).replace(b"\n", newline.encode())
    assert without_section(written, "x") == b"# Mine" + newline.encode()


def test_a_section_with_other_words_is_replaced_in_its_place() -> None:
    earlier = with_section(b"# Mine\n", "x", "## gitguard\n\nOld words.\n") + b"\n# Below\n"
    written = with_section(earlier, "x", TEXT)
    assert b"Old words." not in written
    assert written.startswith(b"# Mine\n\n<!-- gitguard:begin")
    assert written.endswith(b"<!-- gitguard:end -->\n\n# Below\n")


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.replace(b"<!-- gitguard:end -->\n", b""),
        lambda data: data[data.index(b"\n") + 1 :],
        lambda data: data + data,
        lambda data: data.replace(b"gitguard:begin ", b"gitguard:begin zz "),
        lambda data: b"\xff" + data,
    ],
    ids=["no end", "no begin", "twice", "no digest", "not UTF-8"],
)
def test_marks_that_form_no_whole_section_are_refused(damage: Callable[[bytes], bytes]) -> None:
    data = damage(with_section(b"", "x", TEXT))
    with pytest.raises(InvalidDocument, match="`x`") as caught:
        with_section(data, "x", TEXT)
    assert "nothing was changed" in caught.value.hint
    with pytest.raises(InvalidDocument, match="`x`"):
        without_section(data, "x")


def test_the_text_is_short_and_names_no_host() -> None:
    assert len(TEXT.split()) < 320
    hosts = ("claude", "openclaw", "codex", "gemini", "opencode")
    assert not [host for host in hosts if host in TEXT.lower()]


# --- Which files


def test_without_instructions_agents_md_is_made_and_removed(
    guard: Guard, repo: Path, agents: Path, git: Git
) -> None:
    before = git("status", "--porcelain")
    outcome = guard.install(NONE, MINE)
    assert [(change.what, change.name) for change in outcome.changes] == [("created", "AGENTS.md")]
    assert TEXT in agents.read_text()
    assert "commit `AGENTS.md` to share the section" in outcome.notes
    assert outcome.startup is not None
    assert not (repo / "CLAUDE.md").exists()
    guard.uninstall(NONE)
    assert not agents.exists()
    assert git("status", "--porcelain") == before


def test_each_file_that_is_there_gets_the_section(guard: Guard, agents: Path, claude: Path) -> None:
    claude.write_text("# C\n")
    guard.install(NONE, MINE)
    assert not agents.exists()
    agents.write_text("# A\n")
    outcome = guard.install(NONE, MINE)
    assert [change.name for change in outcome.changes] == ["AGENTS.md"]
    assert all(TEXT in path.read_text() for path in (agents, claude))
    guard.uninstall(NONE)
    assert (agents.read_text(), claude.read_text()) == ("# A\n", "# C\n")


@pytest.mark.parametrize("line", ["@AGENTS.md", "@./AGENTS.md"])
def test_a_file_that_imports_the_other_gets_no_section(
    guard: Guard, agents: Path, claude: Path, line: str
) -> None:
    claude.write_text("# C\n")
    guard.install(NONE, MINE)
    claude.write_text(claude.read_text() + f"{line}\n")
    guard.install(NONE, MINE)
    assert claude.read_text() == f"# C\n{line}\n"
    assert TEXT in agents.read_text()


@pytest.mark.parametrize(("link", "file"), [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_a_link_to_the_other_file_stays_a_link(
    guard: Guard, repo: Path, link: str, file: str
) -> None:
    (repo / file).write_text("# Mine\n")
    (repo / link).symlink_to(file)
    outcome = guard.install(NONE, MINE)
    assert [change.name for change in outcome.changes] == [file]
    assert f"`{link}` is a link to `{file}`" in outcome.notes
    guard.uninstall(NONE)
    assert (repo / link).readlink() == Path(file)
    assert (repo / file).read_text() == "# Mine\n"


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md"])
def test_a_link_to_elsewhere_is_refused_and_never_written_through(
    guard: Guard, repo: Path, tmp_path: Path, name: str
) -> None:
    target = tmp_path / "elsewhere.md"
    target.write_bytes(with_section(b"# Elsewhere\n", "x", TEXT))
    before = target.read_bytes()
    (repo / name).symlink_to(target)
    with pytest.raises(InvalidDocument, match="symbolic link"):
        guard.install(NONE, MINE)
    assert guard.uninstall(NONE).changes == ()
    assert target.read_bytes() == before
    assert not (repo / ".gitguard").exists()


# --- Again, edited, from another machine


def test_an_edited_section_stays(guard: Guard, agents: Path) -> None:
    guard.install(NONE, MINE)
    edited = agents.read_text().replace("Before a risky step", "Before every step")
    agents.write_text(edited)
    for outcome in (guard.install(NONE, MINE), guard.uninstall(NONE)):
        assert outcome.changes == ()
        assert any("`AGENTS.md` was edited" in note for note in outcome.notes)
    assert agents.read_text() == edited


def test_a_machine_that_did_not_install_it_can_remove_it(
    guard: Guard, open_guard: OpenGuard, agents: Path, tmp_path: Path
) -> None:
    agents.write_text("# Mine")
    guard.install(NONE, MINE)
    elsewhere = tmp_path / "another"
    open_guard(home=str(elsewhere), state_home=str(elsewhere / "state")).uninstall(NONE)
    assert agents.read_text() == "# Mine"


def test_uninstalling_a_host_names_the_section_that_stays(guard: Guard, agents: Path) -> None:
    guard.install(NONE, MINE)
    notes = guard.uninstall("claude-code").notes
    assert any("AGENTS.md" in note and "uninstall --host none" in note for note in notes)
    assert TEXT in agents.read_text()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (MINE.replace(shared=True), "--shared"),
        (MINE.replace(with_trigger=False), "--no-compaction-trigger"),
        (MINE.replace(directory_hook=True), "--directory-hook"),
    ],
)
def test_options_about_a_hosts_settings_are_refused(
    guard: Guard, agents: Path, options: InstallOptions, name: str
) -> None:
    with pytest.raises(InvalidInput, match=name):
        guard.install(NONE, options)
    assert not agents.exists()


# --- What a person sees


def test_the_change_is_shown_and_made_only_when_somebody_agrees(repo: Path, agents: Path) -> None:
    agents.write_text("# Mine\n")
    asked = gitguard(repo, "init", "--host", NONE)
    assert asked.returncode == NotConfirmed.exit_code
    assert "+++ b/AGENTS.md" in asked.stdout
    assert agents.read_text() == "# Mine\n"
    assert not (repo / ".gitguard").exists()
    done = gitguard(repo, "init", "--host", NONE, "--yes")
    assert done.returncode == 0
    assert "Changed `AGENTS.md`." in done.stdout
    kept = gitguard(repo, "uninstall", "--host", NONE)
    assert kept.returncode == NotConfirmed.exit_code
    assert TEXT in agents.read_text()
    taken = gitguard(repo, "uninstall", "--host", NONE, "--yes")
    assert taken.returncode == 0
    assert agents.read_text() == "# Mine\n"


def test_programs_get_one_document_and_are_not_asked(repo: Path, agents: Path) -> None:
    refused = gitguard(repo, "init", "--host", NONE, "--json")
    assert refused.returncode == NotConfirmed.exit_code
    assert json.loads(refused.stdout)["changes"][0]["path"] == "AGENTS.md"
    assert not agents.exists()
    done = gitguard(repo, "init", "--host", NONE, "--json", "--yes")
    assert json.loads(done.stdout)["changes"][0]["what"] == "created"


def test_a_command_without_a_change_does_not_ask(repo: Path, agents: Path) -> None:
    gitguard(repo, "init", "--host", NONE, "--yes")
    again = gitguard(repo, "init", "--host", NONE)
    assert (again.returncode, "need no change" in again.stdout) == (0, True)
    assert "the gitguard section in `AGENTS.md` is up to date" in again.stdout
    agents.write_text(agents.read_text().replace("working memory", "memory"))
    edited = gitguard(repo, "init", "--host", NONE).stdout
    assert "somebody edited the gitguard section in `AGENTS.md`, so it stays as it is" in edited


def test_a_folder_in_the_place_of_one_file_leaves_the_other_alone(
    guard: Guard, repo: Path, agents: Path, claude: Path
) -> None:
    agents.write_text("# A\n")
    claude.mkdir()
    with pytest.raises(GitguardError):
        guard.install(NONE, MINE)
    assert agents.read_text() == "# A\n"


@pytest.mark.parametrize(
    "command",
    [
        ["ensure"],
        ["note", "--goal", "a", "--next", "b"],
        ["note", "--done", "a", "--next", "b"],
        ["note", "--decision", "a", "--why", "b"],
        ["note", "--failure", "a", "--error", "b"],
        ["note", "--constraint", "a"],
        ["resume"],
        ["gate", "--pressure", "0.4"],
        ["checkpoint", "-m", "why"],
    ],
    ids=" ".join,
)
def test_the_section_names_commands_that_run(repo: Path, command: list[str]) -> None:
    head = f"gitguard {' '.join(command[:2])}"
    assert head.removesuffix(" -m") in TEXT or f"gitguard note {command[1]}" in TEXT
    gitguard(repo, "ensure")
    gitguard(repo, "note", "--goal", "g", "--phase", "p", "--next", "n")
    done = gitguard(repo, *command)
    assert done.returncode == 0, done.stderr
