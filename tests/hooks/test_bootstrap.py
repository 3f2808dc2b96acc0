"""Context files in the bundle: what each host loads, cut and marked, and nothing from elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from string import ascii_letters, digits

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from gitguard.cli.app import app
from gitguard.errors import InvalidInput
from gitguard.guard import Guard
from gitguard.hooks.bundle import HIGH, MEDIUM
from gitguard.hooks.workspace_files import Bootstrap, collect
from gitguard.hosts import CONTEXT_FILES
from gitguard.hosts import names as hosts_with
from gitguard.hosts.context_files import context_files
from gitguard.model.config.transcripts import BootstrapConfig
from gitguard.model.context_files import ContextFiles
from gitguard.model.text import cut_to
from gitguard.store.session.conversations import keep_conversation
from gitguard.store.session.current import current_session
from gitguard.store.session.host_session import HostSession
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Clock, OpenGuard

EVERYTHING = ["AGENTS", "CLAUDE", "GEMINI", "SOUL", "TOOLS", "IDENTITY", "USER"]
EVERYTHING += ["HEARTBEAT", "BOOTSTRAP", "MEMORY"]
OUTSIDE = ["../outside.md", "/etc/hostname", "docs/../../outside.md", "a\0b"]


def write(root: Path, **texts: str) -> None:
    for name, text in texts.items():
        (root / f"{name}.md").write_text(text)


def found(
    root: Path, host: str = "", config: BootstrapConfig | None = None, **changes: object
) -> Bootstrap:
    wanted = context_files(host).replace(**changes)
    return collect(os.path.realpath(root), wanted, config or BootstrapConfig(), str)


def names(bootstrap: Bootstrap) -> list[str]:
    return [file.name for file in bootstrap.files]


LOADED = {
    "": ["AGENTS.md", "CLAUDE.md", "GEMINI.md"],
    "claude-code": ["CLAUDE.md"],
    "codex": ["AGENTS.md"],
    "gemini": ["GEMINI.md"],
    "openclaw": [f"{name}.md" for name in EVERYTHING if name not in ("CLAUDE", "GEMINI")],
    "opencode": ["AGENTS.md"],
    "pi": ["AGENTS.md"],
}


@pytest.mark.parametrize("host", ["", *hosts_with(CONTEXT_FILES)])
def test_each_host_has_the_files_that_it_loads(tmp_path: Path, host: str) -> None:
    write(tmp_path, **dict.fromkeys(EVERYTHING, "Be kind."))
    assert names(found(tmp_path, host)) == LOADED[host]


def test_an_unknown_host_is_refused() -> None:
    with pytest.raises(InvalidInput, match="emacs"):
        context_files("emacs")


def test_a_file_that_is_missing_or_blank_is_not_in_it(tmp_path: Path) -> None:
    write(tmp_path, AGENTS=" \n", GEMINI="Be kind.\n")
    assert found(tmp_path).refused == ()
    assert names(found(tmp_path)) == ["GEMINI.md"]
    assert found(tmp_path).files[0].text == "Be kind."


def test_a_line_in_the_hosts_file_brings_the_other_one_in(tmp_path: Path) -> None:
    write(tmp_path, CLAUDE="See @AGENTS.md\n", AGENTS="Be kind.")
    assert names(found(tmp_path, "claude-code")) == ["CLAUDE.md"]
    write(tmp_path, CLAUDE="Rules:\n@AGENTS.md\n@../secret.md\n@/etc/passwd\n")
    assert names(found(tmp_path, "claude-code")) == ["CLAUDE.md", "AGENTS.md"]


def test_one_file_under_two_names_is_there_once(tmp_path: Path) -> None:
    write(tmp_path, AGENTS="Be kind.")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    assert names(found(tmp_path)) == ["AGENTS.md"]


# Limits


def test_too_long_a_file_keeps_its_head_and_tail_and_says_what_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, AGENTS="BEGIN" + "x" * 10_000 + "END")
    (file,) = found(tmp_path).files
    assert len(file.text) <= 5_000
    assert file.is_cut
    assert file.characters == 10_008
    assert file.text.startswith("BEGIN")
    assert file.text.endswith("END")
    left = int(file.text.partition("[gitguard: ")[2].partition(" ")[0].replace(",", ""))
    assert left == 10_008 - (len(file.text) - len("\n[gitguard: 5,000 characters left out]\n"))


def test_all_files_together_have_a_limit(tmp_path: Path) -> None:
    extra = tuple(f"extra{i}.md" for i in range(6))
    for name in extra:
        (tmp_path / name).write_text("y" * 6_000)
    bootstrap = found(tmp_path, config=BootstrapConfig(extra_files=extra))
    assert sum(len(file.text) for file in bootstrap.files) <= 20_000
    assert names(bootstrap) == [*extra[:4]]
    assert bootstrap.refused == tuple(
        f"`{name}` has no room: the limit of all files is reached" for name in extra[4:]
    )


def test_the_hosts_own_limits_count_and_the_users_before_them(tmp_path: Path) -> None:
    write(tmp_path, AGENTS="a" * 30_000, USER="u" * 30_000, SOUL="s" * 30_000, TOOLS="t" * 30_000)
    sizes = {file.name: len(file.text) for file in found(tmp_path, "openclaw").files}
    assert sizes == {"AGENTS.md": 12_000, "SOUL.md": 20_000, "TOOLS.md": 20_000, "USER.md": 4_000}
    write(tmp_path, SOUL="s", TOOLS="t")
    sizes = {file.name: len(file.text) for file in found(tmp_path, "openclaw").files}
    assert sizes["USER.md"] == 4_000
    tight = BootstrapConfig(file_characters=1_000, total_characters=1_500)
    sizes = {file.name: len(file.text) for file in found(tmp_path, "openclaw", tight).files}
    assert sizes == {"AGENTS.md": 1_000, "SOUL.md": 1, "TOOLS.md": 1, "USER.md": 498}


@given(st.text(max_size=600), st.integers(0, 400))
def test_a_cut_text_is_never_longer_than_it_may_be(text: str, most: int) -> None:
    cut = cut_to(text, most)
    assert len(cut) <= most or cut == text
    assert (cut == text) == (len(text) <= most)


@given(st.lists(st.text(max_size=900), max_size=6), st.integers(0, 800), st.integers(0, 2_000))
def test_whatever_files_say_the_limits_hold(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], most: int, total: int
) -> None:
    root = tmp_path_factory.mktemp("workspace")
    for i, text in enumerate(texts):
        (root / f"{i}.md").write_text(text, encoding="utf-8", errors="replace")
    chosen = ContextFiles(tuple((f"{i}.md",) for i in range(len(texts))))
    config = BootstrapConfig(file_characters=most, total_characters=total)
    bootstrap = collect(os.path.realpath(root), chosen, config, str)
    assert all(len(file.text) <= (most or 5_000) for file in bootstrap.files)
    assert sum(len(file.text) for file in bootstrap.files) <= (total or 20_000)


# Hostile files


def test_a_link_out_of_the_workspace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("PRIVATE")
    root = tmp_path / "workspace"
    (root / "docs").mkdir(parents=True)
    (root / "AGENTS.md").symlink_to("../outside.md")
    (root / "CLAUDE.md").symlink_to("docs/real.md")
    (root / "docs" / "real.md").write_text("Be kind.")
    bootstrap = found(root)
    assert names(bootstrap) == ["CLAUDE.md"]
    assert bootstrap.refused == ("`AGENTS.md` leads out of the workspace, which is refused",)


def test_a_link_into_gits_own_folder_is_refused(repo: Path) -> None:
    (repo / "AGENTS.md").symlink_to(".git/config")
    assert found(repo).refused == ("`AGENTS.md` leads into git's own folder, which is refused",)
    assert found(repo).files == ()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "AGENTS.md")
    (tmp_path / "CLAUDE.md").mkdir()
    (tmp_path / "GEMINI.md").symlink_to("GEMINI.md")
    bootstrap = found(tmp_path)
    assert bootstrap.files == ()
    assert [reason.split("`")[1] for reason in bootstrap.refused] == [*LOADED[""]]


@pytest.mark.parametrize(
    "name", ["../outside.md", "/etc/hostname", "docs/../../outside.md", "a\0b"]
)
def test_a_plugged_in_file_outside_the_workspace_is_never_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.md").write_text("PRIVATE")
    (tmp_path / "workspace" / "docs").mkdir(parents=True)
    bootstrap = found(tmp_path / "workspace", config=BootstrapConfig(extra_files=(name,)))
    assert bootstrap.files == ()
    assert len(bootstrap.refused) == 1


named = st.text(st.characters(exclude_characters="/"), min_size=1, max_size=300)
paths = st.lists(st.sampled_from(["..", ".", "", "docs", "out"]) | named, max_size=4)


@given(st.lists(paths.map("/".join), max_size=4))
def test_whatever_names_are_plugged_in_nothing_outside_is_read(
    tmp_path_factory: pytest.TempPathFactory, extra: list[str]
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "docs").write_text("PRIVATE")
    root = outside / "workspace"
    (root / "docs").mkdir(parents=True)
    (root / "out").symlink_to("..")
    bootstrap = found(root, config=BootstrapConfig(extra_files=tuple(extra)))
    assert bootstrap.files == ()
    assert len(bootstrap.refused) <= len(extra)


def test_a_very_large_or_binary_file_is_read_no_further_than_it_may_be(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"\xff\0\x1b" * (1 << 20))
    (file,) = found(tmp_path).files
    assert len(file.text) <= 5_000
    assert file.characters <= 1 << 20
    assert "\0" not in file.text
    assert "\x1b" not in file.text


# In the bundle


def use(places: UserDirs, text: str) -> None:
    config = Path(places.config_home)
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.yaml").write_text(text)


def test_the_bundles_items_begin_with_them_and_plugged_in_ones_are_the_last(
    open_guard: OpenGuard, places: UserDirs, repo: Path
) -> None:
    write(repo, AGENTS="Be kind.", notes="Remember the milk.")
    use(places, "bootstrap:\n  extra_files: [notes.md, gone.md]\n")
    guard = open_guard()
    guard.ensure()
    bundle = guard.bundle(with_summary=True, with_bootstrap=True, host="codex")
    assert [(item.name, item.worth) for item in bundle.items] == [
        ("AGENTS.md", HIGH),
        ("notes.md", MEDIUM),
        ("summary", MEDIUM),
    ]
    assert bundle.refused == ("`gone.md` is not there",)
    assert [item.name for item in guard.bundle(with_bootstrap=True, pressure=0.9).items] == [
        "AGENTS.md"
    ]


def test_codex_has_those_of_the_folders_on_the_way_to_the_one_worked_in(
    open_guard: OpenGuard, repo: Path
) -> None:
    deep = repo / "parser" / "tests"
    deep.mkdir(parents=True)
    for folder in (repo, repo / "parser", deep):
        write(folder, AGENTS=f"Be kind in {folder.name}.")
    open_guard().ensure()

    def loaded(folder: Path, host: str) -> list[str]:
        guard = Guard(str(folder), open_guard().workspace.places, open_guard().clock)
        return [item.name for item in guard.bundle(with_bootstrap=True, host=host).items]

    assert loaded(repo, "codex") == ["AGENTS.md"]
    assert loaded(repo / "parser", "codex") == ["AGENTS.md", "parser/AGENTS.md"]
    every = ["AGENTS.md", "parser/AGENTS.md", "parser/tests/AGENTS.md"]
    assert loaded(deep, "codex") == every
    assert loaded(deep, "pi") == ["AGENTS.md"]


def test_a_folder_outside_of_the_workspace_has_no_files_for_it(tmp_path: Path) -> None:
    inside, outside = tmp_path / "repo", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        write(folder, AGENTS=folder.name)
    (inside / "link").symlink_to(outside)
    for folder in (outside, inside / "link", inside / "gone"):
        collected = collect(
            os.path.realpath(inside),
            context_files("codex"),
            BootstrapConfig(),
            str,
            folder=str(folder),
        )
        assert names(collected) == ["AGENTS.md"]


def test_secrets_in_them_are_taken_out_before_they_are_cut(guard: Guard, repo: Path) -> None:
    secret = "ghp_" + "".join(Random(3).choices(ascii_letters + digits, k=36))
    guard.ensure()
    text = "x" * 3_700 + f" {secret} " + "y" * 5_000
    write(repo, AGENTS=text)
    (item,) = guard.bundle(with_bootstrap=True).items
    assert not any(secret[i : i + 8] in item.text for i in range(len(secret) - 8))
    write(repo, AGENTS=secret)
    assert "[REDACTED" in guard.bundle(with_bootstrap=True).items[0].text


def test_a_repositorys_configuration_plugs_no_files_in(open_guard: OpenGuard, repo: Path) -> None:
    open_guard().ensure()
    (repo / ".env").write_text("PASSWORD=1")
    (repo / ".gitguard" / "config.yaml").write_text("bootstrap:\n  extra_files: [.env]\n")
    guard = open_guard()
    assert guard.bundle(with_bootstrap=True).items == ()
    assert any("bootstrap" in warning for warning in guard.status().warnings)


def test_the_newest_conversations_host_says_which_files(
    guard: Guard, repo: Path, clock: Clock
) -> None:
    guard.ensure()
    write(repo, AGENTS="Be kind.", GEMINI="Be brief.")
    session = current_session(guard.workspace)
    for used, host in ((1, "codex"), (2, "gemini")):
        clock.advance(60)
        known = HostSession(started_at=f"2026-01-0{used}T00:00:00Z", transcript_format=host)
        with guard.store().lock():
            keep_conversation(guard.workspace, session, host, known)
    assert [item.name for item in guard.bundle(with_bootstrap=True).items] == ["GEMINI.md"]


def test_the_option_says_where_they_stand() -> None:
    said = " ".join(CliRunner().invoke(app, ["bundle", "--help"]).output.split())
    assert "Add the workspace's context files after the state" in said


def test_the_command_shows_them_and_why_others_are_left_out(guard: Guard, repo: Path) -> None:
    guard.ensure()
    write(repo, AGENTS="Be kind.")
    (repo / "CLAUDE.md").symlink_to("/etc/hostname")
    arguments = ["--root", str(repo), "bundle", "--bootstrap"]
    environment = {
        "GITGUARD_STATE_DIR": guard.workspace.places.state_home,
        "XDG_CONFIG_HOME": guard.workspace.places.config_home,
    }
    said = CliRunner().invoke(app, arguments, env=environment)
    assert said.exit_code == 0, said.output
    assert "AGENTS.md:\nBe kind." in said.output
    assert "Left out: `CLAUDE.md` leads out of the workspace" in said.output
    arguments.append("--summary")
    with_summary = CliRunner().invoke(app, arguments, env=environment).output
    order = [with_summary.index(part) for part in ("Goal:", "AGENTS.md:", "summary:", "Left out:")]
    assert order == sorted(order)
    as_json = json.loads(CliRunner().invoke(app, [*arguments, "--json"], env=environment).output)
    assert as_json["items"][0] == {"name": "AGENTS.md", "text": "Be kind.", "worth": "high"}
