"""Installation: what it adds, that it comes once, and that everything is given back."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from skills_ref.validator import validate  # type: ignore[import-untyped]

from gitguard.errors import GitFailed, InvalidDocument, NotWritable
from gitguard.guard import Guard
from gitguard.hosts.base import InstallOptions
from gitguard.hosts.claude_code import installing as settings
from gitguard.hosts.claude_code.hooks import HOOK_EVENTS
from gitguard.model.config.config import DEFAULTS
from gitguard.model.host_settings import compaction_share
from gitguard.settings.installer import Outcome
from gitguard.store.disk.changes import FileEdit, make_all
from tests.conftest import Git, OpenGuard

HOST = "claude-code"
PAYLOADS = Path(__file__).parents[1] / "payloads" / "claude_code"
EXECUTABLE = str(Path(sys.executable).with_name("gitguard"))
MINE = InstallOptions(EXECUTABLE)
SHARED = InstallOptions(EXECUTABLE, shared=True)
WINDOW = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"

FOREIGN: Mapping[str, Any] = {
    "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "notify-send done"}]}],
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}
        ],
        "ForeignEvent": [],
    },
    "env": {"ÜMLAUT": "ü"},
    "model": "opus",
}
ORIGINALS = {
    "absent": None,
    "empty": b"",
    "empty object": b"{}",
    "on one line": b'{"model": "opus", "env": {"A": "1"}}',
    "two spaces": json.dumps(FOREIGN, indent=2, ensure_ascii=False).encode() + b"\n",
    "tabs": json.dumps(FOREIGN, indent="\t").encode() + b"\n",
    "no newline at the end": json.dumps(FOREIGN, indent=4).encode(),
    "CRLF": json.dumps(FOREIGN, indent=2).replace("\n", "\r\n").encode() + b"\r\n",
    "escapes": b'{\n  "model": "\\ud800 \\u00e9"\n}\n',
    "odd spacing": b'{ "model" :\n"opus",\n\n     "hooks": { } }\n\n\n',
}


@pytest.fixture
def user_home(hermetic_seal: Path) -> Path:
    return hermetic_seal


@pytest.fixture
def guard(open_guard: OpenGuard, user_home: Path) -> Guard:
    return open_guard(home=str(user_home))


@pytest.fixture
def personal(repo: Path) -> Path:
    return repo / ".claude" / "settings.local.json"


@pytest.fixture
def shared(repo: Path) -> Path:
    return repo / ".claude" / "settings.json"


@pytest.fixture
def skill(repo: Path) -> Path:
    return repo / ".claude" / "skills" / "gitguard" / "SKILL.md"


def put(path: Path, content: bytes | Mapping[str, Any] | None) -> None:
    if content is None:
        return
    data = content if isinstance(content, bytes) else json.dumps(content, indent=2).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def read(path: Path) -> dict[str, Any]:
    document = json.loads(path.read_bytes())
    assert isinstance(document, dict)
    return document


def commands(document: Mapping[str, Any], event: str) -> list[str]:
    return [hook["command"] for group in document["hooks"][event] for hook in group["hooks"]]


def everything(repo: Path) -> dict[str, bytes]:
    """Every file but gitguard's own and git's objects, with the folders."""
    found = {str(p.relative_to(repo)): b"" for p in repo.rglob("*") if p.is_dir()}
    found |= {str(p.relative_to(repo)): p.read_bytes() for p in repo.rglob("*") if p.is_file()}
    left_out = (".gitguard", ".git/")
    kept = {k: v for k, v in found.items() if not k.startswith(left_out)}
    return {**kept, "exclude": (repo / ".git" / "info" / "exclude").read_bytes()}


def uninstall(guard: Guard) -> Outcome:
    return guard.uninstall(HOST)


def command_of(event: str, executable: str = EXECUTABLE) -> str:
    """Return the command that is installed for an event."""
    hook = settings.merge({}, executable)["hooks"][event][0]["hooks"][0]
    return str(hook["command"])


# --- What is added


def test_every_event_gets_one_hook_with_a_timeout(guard: Guard, personal: Path) -> None:
    guard.install(HOST, MINE)
    document = read(personal)
    assert tuple(document["hooks"]) == HOOK_EVENTS
    for event in HOOK_EVENTS:
        [group] = document["hooks"][event]
        [hook] = group["hooks"]
        assert hook["command"] == command_of(event)
        assert 10 <= hook["timeout"] <= 60
    assert document["statusLine"]["command"] == settings.command(EXECUTABLE)
    assert document["env"] == {WINDOW: "858000"}


def test_what_stood_there_before_stays_and_comes_first(guard: Guard, personal: Path) -> None:
    put(personal, FOREIGN)
    guard.install(HOST, MINE)
    document = read(personal)
    assert commands(document, "Stop")[0] == "notify-send done"
    assert commands(document, "PreToolUse")[0] == "./check.sh"
    assert list(document)[:4] == list(FOREIGN)
    assert document["permissions"] == FOREIGN["permissions"]
    assert document["hooks"]["ForeignEvent"] == []


@pytest.mark.parametrize("name", ["two spaces", "tabs", "no newline at the end", "CRLF"])
def test_a_files_layout_is_kept(guard: Guard, personal: Path, name: str) -> None:
    before = ORIGINALS[name]
    assert before is not None
    put(personal, before)
    guard.install(HOST, MINE)
    after = personal.read_bytes()
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    assert after.count(newline) == after.count(b"\n")
    assert after.endswith(b"\n") == before.endswith(b"\n")
    lines = after.split(newline)
    assert before.split(newline)[:6] == lines[:6]
    assert ("ü".encode() in after) == ("ü".encode() in before)


def test_a_file_keeps_its_mode(guard: Guard, personal: Path) -> None:
    put(personal, b"{}")
    personal.chmod(0o664)
    guard.install(HOST, MINE)
    assert stat.S_IMODE(personal.stat().st_mode) == 0o664
    uninstall(guard)
    assert stat.S_IMODE(personal.stat().st_mode) == 0o664


def test_installing_begins_the_session_and_a_complete_task_does_not_matter(guard: Guard) -> None:
    outcome = guard.install(HOST, MINE)
    assert outcome.startup is not None
    assert outcome.startup.how == "begun"
    guard.note({"next_action": "DONE"})
    again = guard.install(HOST, MINE)
    assert again.startup is not None
    assert again.startup.how == "continued"


def test_the_skill_is_valid_and_short(guard: Guard, skill: Path) -> None:
    guard.install(HOST, MINE)
    assert validate(skill.parent) == []
    assert len(skill.read_text().split()) < 500


def test_the_skill_names_the_gate_one_action_at_a_time_and_no_invention(
    guard: Guard, skill: Path
) -> None:
    guard.install(HOST, MINE)
    text = skill.read_text()
    assert "gitguard gate" in text
    assert "one major action at a time" in text
    assert "Do not invent what a tool did not say" in text
    assert len(text.split()) <= 500


def test_a_skill_that_is_not_ours_stays(guard: Guard, skill: Path) -> None:
    put(skill, b"mine\n")
    outcome = guard.install(HOST, MINE)
    assert skill.read_bytes() == b"mine\n"
    assert any("SKILL.md" in note for note in outcome.notes)
    uninstall(guard)
    assert skill.read_bytes() == b"mine\n"


# --- Once


@pytest.mark.parametrize("name", ORIGINALS)
def test_twice_is_once(guard: Guard, repo: Path, personal: Path, name: str) -> None:
    put(personal, ORIGINALS[name])
    guard.install(HOST, MINE)
    once = everything(repo)
    outcome = guard.install(HOST, MINE)
    assert outcome.changes == ()
    assert everything(repo) == once


def test_an_older_versions_entries_are_replaced(guard: Guard, personal: Path) -> None:
    old = {"type": "command", "command": "/old/bin/gitguard hook claude-code"}
    other = {"type": "command", "command": "echo not gitguard"}
    hooks = {"Stop": [{"hooks": [old, other]}], "RemovedEvent": [{"hooks": [old]}]}
    put(personal, {"hooks": hooks, "statusLine": old})
    guard.install(HOST, MINE)
    document = read(personal)
    assert commands(document, "Stop") == ["echo not gitguard", settings.command(EXECUTABLE)]
    assert "RemovedEvent" not in document["hooks"]
    assert document["statusLine"]["command"] == settings.command(EXECUTABLE)
    uninstall(guard)
    assert read(personal) == {"hooks": {"Stop": [{"hooks": [other]}]}}


def test_another_place_of_the_executable_replaces_the_first(guard: Guard, personal: Path) -> None:
    guard.install(HOST, InstallOptions("/somewhere/else/gitguard"))
    guard.install(HOST, MINE)
    assert commands(read(personal), "Stop") == [settings.command(EXECUTABLE)]
    uninstall(guard)
    assert not personal.exists()


# --- Giving back


@pytest.mark.parametrize("name", ORIGINALS)
def test_uninstalling_gives_back_every_byte(
    guard: Guard, repo: Path, personal: Path, name: str
) -> None:
    put(personal, ORIGINALS[name])
    before = everything(repo)
    guard.install(HOST, MINE)
    assert everything(repo) != before
    uninstall(guard)
    assert everything(repo) == before


@pytest.mark.parametrize("original", [None, b"# mine", b"*.log\n"])
def test_the_exclude_file_comes_back(guard: Guard, repo: Path, original: bytes | None) -> None:
    exclude = repo / ".git" / "info" / "exclude"
    shutil.rmtree(exclude.parent)
    if original is not None:
        put(exclude, original)
    guard.install(HOST, MINE)
    assert b"/.claude/settings.local.json" in exclude.read_bytes()
    uninstall(guard)
    assert exclude.parent.exists() == (original is not None)
    assert original is None or exclude.read_bytes() == original


def test_a_change_by_somebody_else_survives(guard: Guard, repo: Path, personal: Path) -> None:
    put(personal, FOREIGN)
    guard.install(HOST, MINE)
    changed = read(personal)
    changed["permissions"]["allow"].append("Bash(make:*)")
    changed["env"]["B"] = "2"
    put(personal, changed)
    exclude = repo / ".git" / "info" / "exclude"
    exclude.write_bytes(exclude.read_bytes() + b"*.log\n")
    uninstall(guard)
    left = read(personal)
    assert left["permissions"]["allow"] == ["Bash(ls:*)", "Bash(make:*)"]
    assert left["env"] == {"ÜMLAUT": "ü", "B": "2"}
    assert left["hooks"].keys() == {"Stop", "PreToolUse", "ForeignEvent"}
    assert "statusLine" not in left
    assert exclude.read_bytes().endswith(b"*.log\n")
    assert b"gitguard" not in exclude.read_bytes()


def test_a_file_that_was_only_laid_out_anew_comes_back(guard: Guard, personal: Path) -> None:
    original = json.dumps(FOREIGN, indent="\t").encode()
    put(personal, original)
    guard.install(HOST, MINE)
    put(personal, json.dumps(read(personal), indent=8).encode())
    uninstall(guard)
    assert personal.read_bytes() == original


def test_installing_again_after_a_change_keeps_the_change(guard: Guard, personal: Path) -> None:
    guard.install(HOST, MINE)
    put(personal, {**read(personal), "model": "opus"})
    guard.install(HOST, MINE)
    uninstall(guard)
    assert read(personal) == {"model": "opus"}


def test_without_its_memory_uninstall_knows_its_own_entries(
    guard: Guard, personal: Path, skill: Path, git: Git
) -> None:
    put(personal, FOREIGN)
    guard.install(HOST, MINE)
    shutil.rmtree(guard.workspace.state_folder)
    uninstall(guard)
    assert read(personal) == FOREIGN
    assert not skill.exists()
    assert "gitguard" not in (git.root / ".git" / "info" / "exclude").read_text()


def test_a_crash_before_the_files_are_written_costs_nothing(
    guard: Guard, repo: Path, personal: Path
) -> None:
    put(personal, FOREIGN)
    before = everything(repo)
    guard.install(HOST, MINE)
    ledger = Path(guard.workspace.state_folder) / f"_{HOST}.json"
    kept = ledger.read_bytes()
    uninstall(guard)
    put(ledger, kept)
    assert uninstall(guard).changes == ()
    put(ledger, kept)
    guard.install(HOST, MINE)
    uninstall(guard)
    assert everything(repo) == before
    assert not ledger.exists()


def test_uninstall_names_what_stays_and_how_to_remove_it(guard: Guard, repo: Path) -> None:
    guard.install(HOST, MINE)
    said = " ".join(uninstall(guard).notes)
    assert "git update-ref -d" in said
    assert "refs/heads/gitguard/main" in said
    assert "rm -r .gitguard" in said
    assert guard.workspace.state_folder in said
    assert (repo / ".gitguard").is_dir()
    assert guard.log(1)


def test_the_commands_that_remove_what_stays_name_nothing_else(
    open_guard: OpenGuard, user_home: Path, repo: Path
) -> None:
    moved = repo.rename(repo.parent / "my work")
    guard = open_guard(moved, home=str(user_home))
    guard.install(HOST, MINE)
    (moved / "new.txt").write_text("x")
    guard.checkpoint("")
    commands = [text for note in uninstall(guard).notes for text in note.split("`")[1::2]]
    removed = [shlex.split(text)[2:] for text in commands if text.startswith("rm ")]
    place = guard.workspace.place
    assert removed == [
        [os.path.join(place.common_dir, "gitguard", "files.git")],
        [".gitguard"],
        [guard.workspace.state_folder],
    ]


def test_uninstalling_nothing_changes_nothing(guard: Guard, repo: Path) -> None:
    before = everything(repo)
    assert uninstall(guard).changes == ()
    assert everything(repo) == before


# --- The guest in the repository


def test_git_status_is_as_clean_as_before(guard: Guard, git: Git) -> None:
    before = git("status", "--porcelain", "--untracked-files=all")
    guard.install(HOST, MINE)
    assert git("status", "--porcelain", "--untracked-files=all") == before == ""
    git.fsck()


def test_a_file_of_the_users_own_stays_visible(guard: Guard, git: Git, personal: Path) -> None:
    put(personal, b"{}")
    before = git("status", "--porcelain", "--untracked-files=all")
    guard.install(HOST, MINE)
    assert git("status", "--porcelain", "--untracked-files=all") == before


def test_what_is_ignored_already_is_not_excluded_again(guard: Guard, git: Git) -> None:
    put(git.root / ".gitignore", b".claude/settings.local.json\n.gitignore\n")
    guard.install(HOST, MINE)
    lines = (git.root / ".git" / "info" / "exclude").read_text().splitlines()
    assert "/.claude/settings.local.json" not in lines
    assert "/.claude/skills/gitguard/SKILL.md" in lines


def test_settings_that_git_tracks_are_changed_and_said(
    guard: Guard, git: Git, personal: Path
) -> None:
    put(personal, b"{}\n")
    git("add", "-f", ".claude")
    git("commit", "-qm", "settings")
    outcome = guard.install(HOST, MINE)
    assert any("git tracks `.claude/settings.local.json`" in note for note in outcome.notes)
    assert git("status", "--porcelain") == "M .claude/settings.local.json"


KINDS = {
    "no commit": "git init -q repo",
    "detached": "git init -q repo; cd repo; git commit -qm one --allow-empty; git checkout -q @~0",
    "SHA-256": "git init -q --object-format=sha256 repo",
    "bare with a worktree": "git init -q one; git -C one commit -qm one --allow-empty; "
    "git clone -q --bare one bare; git -C bare worktree add -q ../repo",
    "submodule": "git init -q sub; git -C sub commit -qm one --allow-empty; git init -q outer; "
    "cd outer; git -c protocol.file.allow=always submodule add -q ../sub; ln -s outer/sub ../repo",
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_repository_is_served(
    open_guard: OpenGuard, tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "kinds"
    folder.mkdir()
    for name in ("AUTHOR", "COMMITTER"):
        os.environ |= {f"GIT_{name}_NAME": "A", f"GIT_{name}_EMAIL": "a@example.invalid"}
    subprocess.run(["/bin/sh", "-ec", KINDS[kind]], cwd=folder, check=True, capture_output=True)
    git = Git(folder / "repo")
    before = git.traces()
    guard = open_guard(folder / "repo")
    guard.install(HOST, MINE)
    assert git("status", "--porcelain", "--untracked-files=all") == before["status"] == ""
    uninstall(guard)
    assert git.traces() == before


def test_worktrees_share_the_exclude_block(
    guard: Guard, open_guard: OpenGuard, git: Git, tmp_path: Path, user_home: Path
) -> None:
    git("worktree", "add", "-q", str(tmp_path / "second"))
    second = open_guard(tmp_path / "second", home=str(user_home))
    guard.install(HOST, MINE)
    second.install(HOST, MINE)
    uninstall(guard)
    assert Git(tmp_path / "second")("status", "--porcelain", "--untracked-files=all") == ""
    uninstall(second)
    assert "gitguard" not in (git.root / ".git" / "info" / "exclude").read_text()
    assert not (tmp_path / "second" / ".claude").exists()


def test_a_dry_run_shows_every_file_and_changes_none(
    guard: Guard, repo: Path, places: Any, personal: Path
) -> None:
    put(personal, FOREIGN)
    before = everything(repo)
    outcome = guard.install(HOST, MINE, dry_run=True)
    assert everything(repo) == before
    assert not (repo / ".gitguard").exists()
    assert not Path(guard.workspace.state_folder).exists()
    diffs = {change.name: change.diff() for change in outcome.changes}
    assert list(diffs) == [
        ".claude/settings.local.json",
        ".claude/skills/gitguard/SKILL.md",
        ".git/info/exclude",
    ]
    assert f'+    "{WINDOW}": "858000"' in diffs[".claude/settings.local.json"]
    assert diffs[".claude/skills/gitguard/SKILL.md"].startswith("--- /dev/null\n+++ b/.claude")


def test_what_pushes_all_branches_or_all_refs_is_warned_of_with_the_setting_against_it(
    guard: Guard, git: Git, open_guard: OpenGuard, places: Any
) -> None:
    assert not any("push" in warning for warning in guard.install(HOST, MINE).warnings)
    git("remote", "add", "origin", "/nowhere")
    [warning] = [w for w in guard.install(HOST, MINE).warnings if "git push --all" in w]
    assert "`git push --mirror`" in warning
    assert "store.ref_prefix: refs/gitguard/" in warning
    put(Path(places.config_home) / "config.yaml", b"store:\n  ref_prefix: refs/gitguard/\n")
    hidden = open_guard()
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    git("remote", "rename", "origin", token)
    [warning] = [w for w in guard.install(HOST, MINE).warnings if "git push --all" in w]
    assert "[REDACTED:github-token]" in warning
    assert token not in warning
    [warning] = [w for w in hidden.install(HOST, MINE, dry_run=True).warnings if "push" in w]
    assert warning.startswith("`git push --mirror` would publish the checkpoints to `[REDACTED")


# --- Shared settings


def test_shared_settings_use_the_path_alone_and_stay_visible(
    guard: Guard, git: Git, shared: Path, personal: Path
) -> None:
    guard.install(HOST, SHARED)
    assert commands(read(shared), "Stop") == [
        "command -v gitguard >/dev/null 2>&1 && gitguard hook claude-code || true"
    ]
    assert not personal.exists()
    assert "?? .claude/settings.json" in git("status", "--porcelain", "--untracked-files=all")
    uninstall(guard)
    assert not shared.exists()


def test_going_over_to_shared_settings_leaves_one_entry(
    guard: Guard, personal: Path, shared: Path
) -> None:
    guard.install(HOST, MINE)
    guard.install(HOST, SHARED)
    assert not personal.exists()
    assert shared.exists()


def test_personal_settings_do_not_double_shared_ones(
    open_guard: OpenGuard, personal: Path, user_home: Path
) -> None:
    path = f"{Path(EXECUTABLE).parent}:{os.environ['PATH']}"
    guard = open_guard(environment={**os.environ, "PATH": path}, home=str(user_home))
    guard.install(HOST, SHARED)
    outcome = guard.install(HOST, MINE)
    assert not personal.exists()
    assert any("not installed twice" in note for note in outcome.notes)
    assert outcome.changes == ()


# --- The compaction trigger


@pytest.mark.parametrize("level", ["personal", "shared", "user"])
def test_a_trigger_that_is_set_stays_and_is_said(
    guard: Guard, personal: Path, shared: Path, user_home: Path, level: str
) -> None:
    user = user_home / ".claude" / "settings.json"
    put({"personal": personal, "shared": shared, "user": user}[level], {"env": {WINDOW: "500000"}})
    outcome = guard.install(HOST, MINE)
    assert read(personal).get("env", {}).get(WINDOW) == ("500000" if level == "personal" else None)
    assert any("500000" in note for note in outcome.notes)


def test_the_trigger_can_be_declined_at_first_and_later(guard: Guard, personal: Path) -> None:
    declining = MINE.replace(with_trigger=False)
    guard.install(HOST, declining)
    assert "env" not in read(personal)
    outcome = guard.install(HOST, MINE)
    assert (
        "Claude Code will compact at about 83 %; gitguard stops the agent at 85 %. "
        "To keep your setting: `gitguard init --no-compaction-trigger`" in outcome.notes
    )
    assert read(personal)["env"] == {WINDOW: "858000"}
    guard.install(HOST, declining)
    assert "env" not in read(personal)


def test_the_users_own_trigger_is_not_taken_away(guard: Guard, personal: Path) -> None:
    put(personal, {"env": {WINDOW: "858000"}})
    guard.install(HOST, MINE.replace(with_trigger=False))
    assert read(personal)["env"] == {WINDOW: "858000"}
    put(personal, {**read(personal), "model": "opus"})
    uninstall(guard)
    assert read(personal) == {"env": {WINDOW: "858000"}, "model": "opus"}


def test_the_trigger_lies_where_the_default_halt_asks_for_it() -> None:
    gauge, thresholds = DEFAULTS.gauge, DEFAULTS.thresholds
    lowest, highest = settings.COMPACTS_AT
    assert lowest == pytest.approx(compaction_share(gauge.checkpoint_at, thresholds.critical))
    assert lowest <= highest < thresholds.critical


def test_thresholds_that_do_not_fit_the_trigger_are_warned_of(
    open_guard: OpenGuard, places: Any
) -> None:
    put(Path(places.config_home) / "config.yaml", b"thresholds:\n  critical: 0.75\n")
    outcome = open_guard().install(HOST, MINE, dry_run=True)
    assert any("thresholds.critical" in warning for warning in outcome.warnings)


# --- Refusals: one sentence, and nothing written


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"{", "not valid JSON"),
        (b"\xef\xbb\xbf{}", "begins with a byte order mark"),
        (b"[]", "must be a JSON object"),
        (b'{"env": {}, "env": {}}', "`env` occurs twice"),
        (b'{"hooks": []}', "`hooks` must be an object"),
        (b'{"hooks": {"Stop": {}}}', "`hooks.Stop` must be a list"),
        (b'{"hooks": {"Stop": ["x"]}}', "`hooks.Stop[0]` must be an object"),
        (b'{"hooks": {"Stop": [{"hooks": {}}]}}', "`hooks.Stop[0].hooks` must be a list"),
        (b'{"statusLine": "x"}', "`statusLine` must be an object"),
        (b'{"env": []}', "`env` must be an object"),
    ],
)
def test_settings_that_do_not_read_are_refused(
    guard: Guard, repo: Path, personal: Path, content: bytes, named: str
) -> None:
    put(personal, content)
    before = everything(repo)
    with pytest.raises(InvalidDocument, match="settings.local.json") as caught:
        guard.install(HOST, MINE)
    assert named in caught.value.message
    assert "nothing was changed" in caught.value.hint
    assert everything(repo) == before
    assert not (repo / ".gitguard").exists()


@pytest.mark.parametrize(
    "link", [".claude", ".claude/settings.local.json", ".claude/skills", ".git/info/exclude"]
)
def test_symbolic_links_are_refused(guard: Guard, repo: Path, tmp_path: Path, link: str) -> None:
    target = tmp_path / "target"
    (repo / link).parent.mkdir(parents=True, exist_ok=True)
    if link.endswith("exclude"):
        (repo / link).rename(target)
    elif link.endswith(".json"):
        target.write_text("{}")
    else:
        target.mkdir()
    (repo / link).symlink_to(target)
    with pytest.raises(InvalidDocument, match="symbolic link"):
        guard.install(HOST, MINE)
    assert target.is_file() or list(target.iterdir()) == []


def test_read_only_settings_are_refused(guard: Guard, personal: Path, repo: Path) -> None:
    put(personal, b"{}")
    personal.chmod(0o444)
    before = everything(repo)
    with pytest.raises(NotWritable, match="read-only") as caught:
        guard.install(HOST, MINE)
    assert "chmod" in caught.value.hint
    assert everything(repo) == before


def test_settings_with_a_second_name_are_refused(guard: Guard, personal: Path, repo: Path) -> None:
    put(personal, b"{}")
    (repo / "dotfile.json").hardlink_to(personal)
    before = everything(repo)
    with pytest.raises(InvalidDocument, match="is a hard link"):
        guard.install(HOST, MINE)
    assert everything(repo) == before


def test_a_branch_in_the_way_is_refused(guard: Guard, git: Git, repo: Path) -> None:
    git("branch", "gitguard")
    for dry_run in (True, False):
        with pytest.raises(GitFailed, match="the branch `gitguard`") as caught:
            guard.install(HOST, MINE, dry_run=dry_run)
        assert "store.ref_prefix: refs/gitguard/" in caught.value.hint
    assert not (repo / ".gitguard").exists()


def test_a_write_that_fails_takes_the_others_back(tmp_path: Path) -> None:
    put(tmp_path / "changed", b"old")
    put(tmp_path / "file", b"in the way")
    changes = (
        FileEdit(str(tmp_path / "changed"), "changed", b"old", b"new"),
        FileEdit(str(tmp_path / "created"), "created", None, b"new"),
        FileEdit(str(tmp_path / "file" / "below"), "below", None, b"new"),
    )
    with pytest.raises(NotWritable):
        make_all(changes)
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert left == {"changed": b"old", "file": b"in the way"}


# --- The installed command


def run_installed(command: str, path: str, data: bytes = b"{}") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", command],
        input=data.decode(),
        env={"PATH": path, "HOME": os.environ["HOME"]},
        capture_output=True,
        text=True,
        check=False,
    )


SCRIPT = '#!/bin/sh\necho "$0 $*"\nexit 2\n'


@pytest.mark.parametrize("event", ["Stop", "PreCompact"])
@pytest.mark.parametrize(
    "folder", ["plain", "with space", "it's", 'quo"te', "$HOME `x`", "ü", "a:b"]
)
def test_the_command_runs_the_named_installation(tmp_path: Path, folder: str, event: str) -> None:
    program = tmp_path / folder / "gitguard"
    put(program, SCRIPT.encode())
    program.chmod(0o755)
    command = command_of(event, str(program))
    assert settings.is_ours({"command": command})
    done = run_installed(command, "/usr/bin:/bin")
    assert (done.returncode, done.stdout) == (0, f"{program} hook claude-code\n")


@pytest.mark.parametrize("event", ["Stop", "PreCompact"])
@pytest.mark.parametrize("executable", ["/gone/gitguard", ""])
def test_the_command_falls_back_to_the_path(tmp_path: Path, executable: str, event: str) -> None:
    program = tmp_path / "bin" / "gitguard"
    put(program, SCRIPT.encode())
    program.chmod(0o755)
    done = run_installed(command_of(event, executable), f"{program.parent}:/usr/bin:/bin")
    assert (done.returncode, done.stdout) == (0, f"{program} hook claude-code\n")


@pytest.mark.parametrize("executable", ["/gone/gitguard", ""])
def test_the_command_is_neutral_where_there_is_nothing(executable: str) -> None:
    done = run_installed(settings.command(executable), "/usr/bin:/bin")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_command_that_a_host_prints_is_short_and_neutral_too() -> None:
    command = command_of("PreCompact", "/gone/gitguard")
    assert command == "PATH=/gone:$PATH gitguard hook claude-code || true"
    done = run_installed(command, "/usr/bin:/bin")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    "command",
    ["gitguard hook claude-code-x", "gitguard status", "echo gitguard", "hook claude-code", ""],
)
def test_other_commands_are_not_taken_for_ours(command: str) -> None:
    assert not settings.is_ours({"type": "command", "command": command})


# --- The status line that ours stands in for


def status_line(repo: Path, name: str = "statusLine") -> str:
    payload = (PAYLOADS / f"{name}.json").read_text().replace("/repo", str(repo))
    done = subprocess.run(
        [EXECUTABLE, "hook", HOST],
        input=payload,
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(repo)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    return done.stdout


@pytest.fixture
def sealed(open_guard: OpenGuard, hermetic_seal: Path) -> Guard:
    """gitguard with the places that a process of its own finds."""
    from gitguard.process import places

    found = places(os.environ)
    return open_guard(**{name: getattr(found, name) for name in found.field_names})


LINE = "cat > seen.json; printf 'one\\ntwo\\n'"


@pytest.mark.parametrize("level", ["personal", "shared", "user"])
def test_an_existing_status_line_is_called_with_the_same_input(
    sealed: Guard, repo: Path, personal: Path, shared: Path, user_home: Path, level: str
) -> None:
    user = user_home / ".claude" / "settings.json"
    other = {"type": "command", "command": f"cd '{repo}'; {LINE}", "padding": 3}
    put({"personal": personal, "shared": shared, "user": user}[level], {"statusLine": other})
    sealed.install(HOST, MINE)
    assert read(personal)["statusLine"]["padding"] == 3
    shown = status_line(repo).splitlines()
    assert shown[:2] == ["one", "two"]
    assert len(shown) == 3
    assert "%" in shown[2]
    assert read(repo / "seen.json")["context_window"]
    assert LINE not in personal.read_text()


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude/settings.local.json"])
def test_a_status_line_that_came_with_the_repository_is_not_run(
    sealed: Guard, repo: Path, git: Git, user_home: Path, name: str
) -> None:
    put(repo / name, {"statusLine": {"type": "command", "command": f"touch '{repo}/ran'"}})
    mine = {"statusLine": {"type": "command", "command": "echo mine"}}
    put(user_home / ".claude" / "settings.json", mine)
    git("add", "--force", name)
    outcome = sealed.install(HOST, MINE)
    assert any(f"`{name}` is not shown beside" in note for note in outcome.notes)
    assert status_line(repo).splitlines()[0] == "mine"
    assert not (repo / "ran").exists()


def test_a_status_line_in_a_file_that_git_tracks_since_is_not_run(
    sealed: Guard, repo: Path, git: Git, shared: Path
) -> None:
    command = f"touch '{repo}/ran'; echo theirs"
    put(shared, {"statusLine": {"type": "command", "command": command}})
    sealed.install(HOST, MINE)
    assert status_line(repo).splitlines()[0] == "theirs"
    (repo / "ran").unlink()
    git("add", "--force", ".claude/settings.json")
    assert len(status_line(repo).splitlines()) == 1
    assert not (repo / "ran").exists()


def test_a_status_line_that_fails_or_hangs_leaves_ours(
    sealed: Guard, repo: Path, personal: Path
) -> None:
    for command in ("exit 3", "echo half; exit 1", "no-such-command", "sleep 60"):
        put(personal, {"statusLine": {"type": "command", "command": command}})
        sealed.install(HOST, MINE)
        [line] = status_line(repo).splitlines()
        assert "%" in line


def test_without_another_status_line_only_ours_is_shown(sealed: Guard, repo: Path) -> None:
    sealed.install(HOST, MINE)
    assert len(status_line(repo).splitlines()) == 1


def test_installing_again_keeps_the_status_line_beneath(
    sealed: Guard, repo: Path, personal: Path
) -> None:
    put(personal, {"statusLine": {"type": "command", "command": "echo theirs"}})
    original = personal.read_bytes()
    sealed.install(HOST, MINE)
    sealed.install(HOST, MINE)
    assert status_line(repo).splitlines()[0] == "theirs"
    uninstall(sealed)
    assert personal.read_bytes() == original


def test_a_status_line_put_over_ours_becomes_the_one_beneath(
    sealed: Guard, repo: Path, personal: Path
) -> None:
    sealed.install(HOST, MINE)
    put(personal, {**read(personal), "statusLine": {"type": "command", "command": "echo new"}})
    sealed.install(HOST, MINE)
    assert status_line(repo).splitlines()[0] == "new"
    uninstall(sealed)
    assert read(personal) == {"statusLine": {"type": "command", "command": "echo new"}}


def test_shared_settings_of_somebody_else_do_not_hide_the_users_line(
    sealed: Guard, repo: Path, shared: Path, user_home: Path
) -> None:
    put(shared, settings.merge({}, ""))
    put(
        user_home / ".claude" / "settings.json",
        {"statusLine": {"type": "command", "command": "echo mine"}},
    )
    assert status_line(repo).splitlines() == ["mine"]


def test_a_damaged_ledger_costs_the_other_line_only(sealed: Guard, repo: Path) -> None:
    sealed.install(HOST, MINE)
    put(Path(sealed.workspace.state_folder) / f"_{HOST}.json", b"{")
    assert len(status_line(repo).splitlines()) == 1
    assert sealed.workspace.faults()
    with pytest.raises(InvalidDocument, match="is not valid JSON"):
        uninstall(sealed)


# --- The command line


def gitguard(repo: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EXECUTABLE, *arguments], cwd=repo, capture_output=True, text=True, check=False
    )


def test_init_and_uninstall_speak_to_people_and_programs(repo: Path, personal: Path) -> None:
    shown = gitguard(repo, "init", "--dry-run")
    assert shown.returncode == 0
    assert "+++ b/.claude/settings.local.json" in shown.stdout
    assert not personal.exists()
    done = gitguard(repo, "init", "--host", "claude-code", "--json")
    document = json.loads(done.stdout)
    assert (document["session"], document["how"]) == ("main", "begun")
    assert [change["what"] for change in document["changes"]] == ["created", "created", "changed"]
    assert commands(read(personal), "Stop") == [settings.command(EXECUTABLE)]
    assert "need no change" in gitguard(repo, "init").stdout
    taken = gitguard(repo, "uninstall")
    assert taken.returncode == 0
    assert "Removed `.claude/settings.local.json`." in taken.stdout
    assert not personal.parent.exists()


def test_the_command_line_says_what_is_wrong_in_one_sentence(repo: Path, personal: Path) -> None:
    put(personal, b"{")
    done = gitguard(repo, "init")
    assert done.returncode == InvalidDocument.exit_code
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 2


# Two home folders


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one"), ("one",), ("two",)])
@pytest.mark.parametrize("original", [None, {"model": "opus"}])
def test_under_two_homes_uninstalling_leaves_what_stood_there_and_a_clean_status(
    order: tuple[str, ...],
    original: dict[str, str] | None,
    open_guard: OpenGuard,
    tmp_path: Path,
    personal: Path,
    git: Git,
) -> None:
    if original is not None:
        personal.parent.mkdir()
        personal.write_text(json.dumps(original))
    before = git("status", "--porcelain", "--untracked-files=all")
    homes = {name: tmp_path / name for name in ("one", "two")}
    guards = {n: open_guard(home=str(h), state_home=str(h / "state")) for n, h in homes.items()}
    for guard in guards.values():
        guard.install(HOST, MINE)
        assert git("status", "--porcelain", "--untracked-files=all") == before
    for name in order:
        guards[name].uninstall(HOST)
    left = json.loads(personal.read_text()) if personal.exists() else None
    assert left == original
    assert git("status", "--porcelain", "--untracked-files=all") == before
    assert not (personal.parent / "skills" / "gitguard").exists()


def test_installing_under_another_home_says_that_the_state_waits_to_be_trusted(
    guard: Guard, open_guard: OpenGuard, tmp_path: Path
) -> None:
    guard.install(HOST, MINE)
    outcome = open_guard(state_home=str(tmp_path / "another")).install(HOST, MINE)
    assert outcome.startup is None
    assert any("gitguard repair --trust" in note for note in outcome.notes)
