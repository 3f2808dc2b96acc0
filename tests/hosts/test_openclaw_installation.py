"""Installation into a host that is set up once for a user: files, settings, and all given back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitguard.errors import HostFailed, InvalidInput
from gitguard.guard import Guard
from gitguard.hosts.base import InstallOptions
from gitguard.hosts.openclaw import installing as settings
from gitguard.settings.installer import Outcome
from gitguard.store.disk.program import ProgramOutcome, find_program
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Git, OpenGuard

HOST = "openclaw"
EXECUTABLE = str(Path(sys.executable).with_name("gitguard"))
MINE = InstallOptions(EXECUTABLE)
NEWER, OLDER = "2026.9.6", "2026.3.13"
ACCESS = "plugins.entries.gitguard.hooks.allowConversationAccess"
RESERVE = "agents.defaults.compaction.reserveTokensFloor"

PROGRAM = """#!{python} -IS
import json, os, sys
HERE = {here!r}
VERSION, WINDOW = {version!r}, {window!r}
UNKNOWN = {unknown!r}
PATH = os.path.join(HERE, "settings.json")
def load():
    return json.load(open(PATH)) if os.path.exists(PATH) else {{}}
def find(document, names):
    for name in names:
        if not isinstance(document, dict) or name not in document:
            return None
        document = document[name]
    return document
words = sys.argv[1:]
with open(os.path.join(HERE, "runs"), "a") as runs:
    runs.write(" ".join(words) + "\\n")
print("[plugins] hook runner initialized with 1 registered hooks")
if words == ["--version"]:
    print("OpenClaw " + VERSION + " (abc123)")
elif words[:2] == ["models", "list"]:
    model = {{"key": "a/b", "contextWindow": WINDOW, "tags": ["default"]}}
    print(json.dumps({{"models": [model]}}))
elif words[:2] == ["config", "get"]:
    value = find(load(), words[2].split("."))
    if value is None:
        print("Config path not found: " + words[2], file=sys.stderr)
        sys.exit(1)
    print(json.dumps(value, indent=2))
    print("[plugins] hook runner initialized with 1 registered hooks")
else:
    names = words[2].split(".")
    if words[2] in UNKNOWN:
        print('Config validation failed: x: Unrecognized key: "y"', file=sys.stderr)
        sys.exit(1)
    document = load()
    place = document
    for name in names[:-1]:
        place = place.setdefault(name, {{}})
    if words[1] == "set":
        place[names[-1]] = json.loads(words[3])
    elif names[-1] not in place:
        sys.exit(1)
    else:
        del place[names[-1]]
    json.dump(document, open(PATH, "w"))
"""


class Program:
    """A stand-in for the host's own program, which takes and refuses settings as it does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "bin" / "openclaw"
        self.path.parent.mkdir(parents=True)

    def install(self, version: str = NEWER, window: int = 40_000) -> None:
        unknown = (RESERVE,) if version == NEWER else (ACCESS,)
        text = PROGRAM.format(
            python=sys.executable,
            here=str(self.folder),
            version=version,
            window=window,
            unknown=unknown,
        )
        self.path.write_text(text)
        self.path.chmod(0o755)

    @property
    def settings(self) -> dict[str, Any]:
        path = self.folder / "settings.json"
        found = json.loads(path.read_text()) if path.exists() else {}
        assert isinstance(found, dict)
        return found

    @settings.setter
    def settings(self, document: dict[str, Any]) -> None:
        (self.folder / "settings.json").write_text(json.dumps(document))

    def runs(self) -> list[str]:
        path = self.folder / "runs"
        found = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return found

    def writes(self) -> list[str]:
        return [run for run in self.runs() if run.startswith(("config set", "config unset"))]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    found = Program(tmp_path / "host")
    found.install()
    return found


@pytest.fixture
def state(hermetic_seal: Path) -> Path:
    """The host's folder of its user."""
    return hermetic_seal / ".openclaw"


@pytest.fixture
def guard(open_guard: OpenGuard, hermetic_seal: Path, program: Program) -> Guard:
    return guard_with(open_guard, hermetic_seal, program)


def guard_with(
    open_guard: OpenGuard, home: Path, program: Program | None, root: Path | None = None
) -> Guard:
    folders = [str(program.path.parent)] if program else []
    path = os.pathsep.join([*folders, str(Path(EXECUTABLE).parent), "/usr/bin", "/bin"])
    return open_guard(root, home=str(home), environment={"PATH": path, "HOME": str(home)})


def install(guard: Guard, wishes: InstallOptions = MINE) -> Outcome:
    return guard.install(HOST, wishes)


def uninstall(guard: Guard) -> Outcome:
    return guard.uninstall(HOST)


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# --- What is added


def test_the_plugin_lies_where_the_host_looks_by_itself(guard: Guard, state: Path) -> None:
    outcome = install(guard)
    found = files_below(state)
    assert set(found) == {
        f"extensions/gitguard/{name}"
        for name in (
            "config.json",
            "package.json",
            "openclaw.plugin.json",
            "index.js",
            "internal.js",
            "sessions.js",
            "channel.js",
        )
    }
    config = json.loads(found["extensions/gitguard/config.json"])
    assert config["executable"] == EXECUTABLE
    assert outcome.startup is not None
    assert outcome.startup.how == "begun"


def test_the_hosts_own_program_makes_the_settings(guard: Guard, program: Program) -> None:
    outcome = install(guard)
    entry = program.settings["plugins"]["entries"]["gitguard"]
    assert entry == {"enabled": True, "hooks": {"allowConversationAccess": True}}
    assert "hooks" not in program.settings
    assert outcome.commands == (
        "openclaw config set plugins.entries.gitguard.enabled true --strict-json",
        f"openclaw config set {ACCESS} true --strict-json",
    )
    assert any("openclaw gateway restart" in note for note in outcome.notes)


def test_a_setting_that_a_version_does_not_have_is_no_fault(guard: Guard, program: Program) -> None:
    program.install(OLDER)
    outcome = install(guard)
    assert program.settings["hooks"] == {"internal": {"enabled": True}}
    assert not any(ACCESS in said for said in (*outcome.commands, *outcome.warnings))
    assert any("hooks that came with OpenClaw" in note for note in outcome.notes)


def test_a_program_that_fails_is_said_and_the_files_are_there(
    guard: Guard, program: Program, state: Path
) -> None:
    text = program.path.read_text()
    program.path.write_text(text.replace("    document = load()", "    sys.exit('disk full')"))
    outcome = install(guard)
    failed = [w for w in outcome.warnings if "disk full" in w and "run it yourself" in w]
    assert len(failed) == 2
    assert outcome.commands == ()
    assert (state / "extensions" / "gitguard" / "index.js").exists()
    program.install()
    assert len(install(guard).commands) == 2


def test_without_the_program_its_commands_are_said(
    open_guard: OpenGuard, hermetic_seal: Path, state: Path
) -> None:
    outcome = install(guard_with(open_guard, hermetic_seal, None))
    said = " ".join(outcome.notes)
    assert f"openclaw config set {ACCESS} true --strict-json" in said
    assert "openclaw config set hooks.internal.enabled true" in said
    assert outcome.commands == ()
    assert (state / "extensions" / "gitguard" / "index.js").exists()


def test_what_was_set_by_hand_is_given_back_all_the_same(
    open_guard: OpenGuard, hermetic_seal: Path, program: Program
) -> None:
    theirs = {"plugins": {"entries": {"other": {"enabled": True}}}}
    without = guard_with(open_guard, hermetic_seal, None)
    install(without)
    install(without)
    entry = {"enabled": True, "hooks": {"allowConversationAccess": True}}
    program.settings = {"plugins": {"entries": {"gitguard": entry, **theirs["plugins"]["entries"]}}}
    uninstall(guard_with(open_guard, hermetic_seal, program))
    assert program.settings == theirs
    install(without)
    assert "`openclaw config unset plugins.entries.gitguard`" in " ".join(uninstall(without).notes)
    install(without)
    assert uninstall(guard_with(open_guard, hermetic_seal, program)).commands == ()
    assert program.settings == theirs


def test_of_many_sessions_that_stay_a_few_are_named(guard: Guard, git: Git) -> None:
    install(guard)
    for number in range(20):
        git("update-ref", f"refs/heads/gitguard/other-{number}", "refs/heads/gitguard/main")
    (said,) = (note for note in uninstall(guard).notes if "checkpoints are kept" in note)
    assert said.count("refs/heads/gitguard/") == 5
    assert "and 16 more" in said


def test_who_takes_out_another_host_hears_of_this_one(guard: Guard) -> None:
    install(guard)
    (said,) = (n for n in guard.uninstall("claude-code").notes if "is still installed" in n)
    assert "`gitguard uninstall --host openclaw`" in said
    assert not [note for note in uninstall(guard).notes if "is still installed" in note]


def test_a_program_inside_the_repository_is_not_run(repo: Path) -> None:
    path = repo / "bin" / "openclaw"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    for folder in (str(path.parent), "bin", ""):
        assert find_program("openclaw", {"PATH": folder}, str(repo)) is None
    path.unlink()
    path.symlink_to("/bin/sh")
    assert find_program("openclaw", {"PATH": str(path.parent)}, str(repo)) is None


def test_the_skill_is_the_workspaces_and_git_does_not_see_it(guard: Guard, git: Git) -> None:
    install(guard)
    assert (git.root / "skills" / "gitguard" / "SKILL.md").exists()
    assert git("status", "--porcelain", "--untracked-files=all") == ""


def test_the_hosts_state_folder_may_be_elsewhere(
    open_guard: OpenGuard, hermetic_seal: Path, tmp_path: Path
) -> None:
    environment = {"PATH": "/usr/bin:/bin", "OPENCLAW_STATE_DIR": str(tmp_path / "elsewhere")}
    install(open_guard(home=str(hermetic_seal), environment=environment))
    assert (tmp_path / "elsewhere" / "extensions" / "gitguard" / "index.js").exists()
    assert not (hermetic_seal / ".openclaw").exists()


def test_a_list_of_allowed_plugins_gets_ours_and_gives_it_back(
    guard: Guard, program: Program
) -> None:
    program.settings = {"plugins": {"allow": ["telegram"]}}
    install(guard)
    assert program.settings["plugins"]["allow"] == ["telegram", "gitguard"]
    changed = program.settings
    changed["plugins"]["allow"].append("discord")
    program.settings = changed
    uninstall(guard)
    assert program.settings["plugins"]["allow"] == ["telegram", "discord"]


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"plugins": {"enabled": False}}, "plugins.enabled"),
        ({"plugins": {"deny": ["gitguard"]}}, "plugins.deny"),
        (
            {"plugins": {"entries": {"gitguard": {"enabled": False}}}},
            "plugins.entries.gitguard.enabled",
        ),
        ({"hooks": {"internal": {"enabled": False}}}, "hooks.internal.enabled"),
    ],
)
def test_what_the_user_switched_off_stays_off_and_is_said(
    guard: Guard, program: Program, document: dict[str, Any], named: str
) -> None:
    program.settings = document
    outcome = install(guard)
    assert any(f"`{named}`" in warning for warning in outcome.warnings)
    found: Any = program.settings
    for name in named.split("."):
        found = found[name]
    assert found in (False, ["gitguard"])


# --- Compaction


def test_an_older_host_compacts_between_our_checkpoint_and_a_halt(
    guard: Guard, program: Program
) -> None:
    program.install(OLDER, window=200_000)
    outcome = install(guard)
    assert program.settings["agents"]["defaults"]["compaction"]["reserveTokensFloor"] == 35_000
    assert any(
        "will compact a window of 200,000 tokens at 82.5 %; gitguard stops" in note
        for note in outcome.notes
    )
    uninstall(guard)
    assert "reserveTokensFloor" not in program.settings["agents"]["defaults"]["compaction"]


@pytest.mark.parametrize("why", ["declined", "set already", "compacts earlier"])
def test_a_trigger_is_not_set_where_nobody_needs_it(
    guard: Guard, program: Program, why: str
) -> None:
    program.install(OLDER, window=40_000 if why == "compacts earlier" else 200_000)
    mine = {"agents": {"defaults": {"compaction": {"reserveTokensFloor": 50_000}}}}
    program.settings = mine if why == "set already" else {}
    install(guard, MINE.replace(with_trigger=why != "declined"))
    agents = mine["agents"] if why == "set already" else None
    assert program.settings.get("agents") == agents


def test_a_trigger_that_is_declined_later_goes(guard: Guard, program: Program) -> None:
    program.install(OLDER, window=200_000)
    install(guard)
    for _ in range(2):
        install(guard, MINE.replace(with_trigger=False))
        assert program.settings["agents"] == {"defaults": {"compaction": {}}}
    install(guard)
    assert program.settings["agents"]["defaults"]["compaction"]["reserveTokensFloor"] == 35_000


def test_a_host_that_compacts_above_the_halt_is_warned_of(guard: Guard, program: Program) -> None:
    program.install(NEWER, window=200_000)
    outcome = install(guard)
    [warning] = [w for w in outcome.warnings if "compacts" in w]
    assert "90%" in warning
    assert "`thresholds.critical` 0.85" in warning
    program.install(NEWER, window=40_000)
    assert not any("compacts" in w for w in install(guard).warnings)


@pytest.mark.parametrize(
    ("critical", "reserve"), [(0.85, 35_000), (0.9, 30_000), (0.95, 25_000), (0.75, 55_000)]
)
def test_an_older_host_compacts_before_a_configured_halt(
    open_guard: OpenGuard,
    hermetic_seal: Path,
    places: UserDirs,
    program: Program,
    critical: float,
    reserve: int,
) -> None:
    program.install(OLDER, window=200_000)
    config = Path(places.config_home) / "config.yaml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(f"thresholds: {{critical: {critical}}}\n")
    install(guard_with(open_guard, hermetic_seal, program))
    planned = program.settings["agents"]["defaults"]["compaction"]["reserveTokensFloor"]
    assert planned == reserve
    assert 1 - reserve / 200_000 < critical


def test_a_window_that_is_not_known_sets_no_trigger() -> None:
    wishes = InstallOptions(checkpoint_at=0.8, critical=0.85, window=200_000)
    found = {"version": (2026, 3, 13), "plugins": {}, "internal": {}, "compaction": {}, "window": 0}
    planned = settings.plan_settings(found, wishes, {})
    assert RESERVE not in [setting.name for setting in planned.settings]


# --- Once


@pytest.mark.parametrize("version", [NEWER, OLDER])
def test_twice_is_once(guard: Guard, program: Program, state: Path, version: str) -> None:
    program.install(version, window=200_000)
    install(guard)
    once, set_once = files_below(state), program.settings
    program.runs()
    outcome = install(guard)
    # A version that refuses a setting is asked again, since it may have been replaced.
    assert program.writes() in ([], [f"config set {ACCESS} true --strict-json"])
    assert (outcome.changes, outcome.commands) == ((), ())
    assert (files_below(state), program.settings) == (once, set_once)


def test_an_upgrade_refreshes_our_files(guard: Guard, state: Path) -> None:
    install(guard, InstallOptions("/old/bin/gitguard"))
    outcome = install(guard)
    assert [Path(change.name).name for change in outcome.changes] == ["config.json"]
    config = json.loads((state / "extensions" / "gitguard" / "config.json").read_text())
    assert config["executable"] == EXECUTABLE


def test_a_file_that_somebody_changed_stays_and_is_said(guard: Guard, state: Path) -> None:
    install(guard)
    path = state / "extensions" / "gitguard" / "index.js"
    path.write_text("// mine\n")
    for outcome in (install(guard, InstallOptions("/other/gitguard")), uninstall(guard)):
        assert any(f"`{path}`" in note for note in outcome.notes)
        assert path.read_text() == "// mine\n"
    assert files_below(state) == {"extensions/gitguard/index.js": b"// mine\n"}


def test_a_dry_run_changes_nothing(guard: Guard, program: Program, state: Path, repo: Path) -> None:
    outcome = guard.install(HOST, MINE, dry_run=True)
    assert program.writes() == []
    assert (state.exists(), (repo / "skills").exists(), program.settings) == (False, False, {})
    assert not Path(guard.workspace.places.state_home).exists()
    assert any(change.name.endswith("index.js") for change in outcome.changes)
    assert len(outcome.commands) == 2
    install(guard)
    before = files_below(state)
    program.runs()
    outcome = guard.uninstall(HOST, dry_run=True)
    assert program.writes() == []
    assert outcome.commands == ("openclaw config unset plugins.entries.gitguard",)
    assert files_below(state) == before


# --- Giving back


@pytest.mark.parametrize("version", [NEWER, OLDER])
def test_uninstalling_gives_everything_back(
    guard: Guard, program: Program, state: Path, git: Git, version: str
) -> None:
    program.install(version, window=200_000)
    program.settings = {"hooks": {}, "plugins": {"entries": {"other": {"enabled": True}}}}
    before = git.traces()
    exclude = (git.root / ".git" / "info" / "exclude").read_bytes()
    install(guard)
    uninstall(guard)
    assert files_below(state) == {}
    assert not (state / "extensions").exists()
    assert program.settings["plugins"] == {"entries": {"other": {"enabled": True}}}
    assert program.settings["hooks"] in ({}, {"internal": {}})
    assert git.traces() == before
    assert (git.root / ".git" / "info" / "exclude").read_bytes() == exclude
    assert not (Path(guard.workspace.places.state_home) / f"_{HOST}.json").exists()


def test_a_setting_that_somebody_changed_since_stays(guard: Guard, program: Program) -> None:
    program.install(OLDER, window=200_000)
    install(guard)
    changed = program.settings
    changed["agents"]["defaults"]["compaction"]["reserveTokensFloor"] = 60_000
    program.settings = changed
    uninstall(guard)
    assert program.settings["agents"]["defaults"]["compaction"]["reserveTokensFloor"] == 60_000


def test_what_several_workspaces_use_goes_with_the_last(
    guard: Guard,
    open_guard: OpenGuard,
    program: Program,
    hermetic_seal: Path,
    state: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / "second").mkdir()
    Git(tmp_path / "second").start()
    second = guard_with(open_guard, hermetic_seal, program, tmp_path / "second")
    install(guard)
    install(second)
    program.runs()
    outcome = uninstall(guard)
    assert program.writes() == []
    assert any(str(tmp_path / "second") in note for note in outcome.notes)
    assert (state / "extensions" / "gitguard" / "index.js").exists()
    assert not (guard.workspace.place.worktree / Path("skills")).exists()
    uninstall(second)
    assert files_below(state) == {}
    assert "gitguard" not in json.dumps(program.settings)


def test_a_workspace_that_is_gone_holds_nothing_back(
    guard: Guard,
    open_guard: OpenGuard,
    program: Program,
    hermetic_seal: Path,
    state: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / "second").mkdir()
    Git(tmp_path / "second").start()
    install(guard_with(open_guard, hermetic_seal, program, tmp_path / "second"))
    install(guard)
    shutil.rmtree(tmp_path / "second")
    uninstall(guard)
    assert files_below(state) == {}


def test_two_hosts_in_one_repository_keep_each_their_own(
    guard: Guard, git: Git, state: Path
) -> None:
    exclude = git.root / ".git" / "info" / "exclude"
    before = exclude.read_bytes()
    guard.install("claude-code", MINE)
    install(guard)
    both = exclude.read_bytes()
    for host in ("claude-code", HOST):
        assert guard.install(host, MINE).changes == ()
    assert exclude.read_bytes() == both
    assert git("status", "--porcelain", "--untracked-files=all") == ""
    guard.uninstall("claude-code")
    assert git("status", "--porcelain", "--untracked-files=all") == ""
    assert (state / "extensions").exists()
    uninstall(guard)
    assert exclude.read_bytes() == before


# --- The directory hook


def test_the_directory_hook_takes_the_internal_events_from_the_plugin(
    guard: Guard, program: Program, state: Path
) -> None:
    install(guard, MINE.replace(directory_hook=True))
    found = files_below(state)
    assert {"hooks/gitguard/HOOK.md", "hooks/gitguard/handler.js"} <= set(found)
    assert json.loads(found["extensions/gitguard/config.json"])["internal"] is False
    assert program.settings["hooks"]["internal"]["entries"]["gitguard"] == {"enabled": True}
    install(guard)
    found = files_below(state)
    assert program.settings["hooks"]["internal"]["entries"] == {}
    assert not any(name.startswith("hooks/") for name in found)
    assert json.loads(found["extensions/gitguard/config.json"])["internal"] is True
    uninstall(guard)
    assert files_below(state) == {}


def test_hooks_that_load_because_none_is_named_stay_so(guard: Guard, program: Program) -> None:
    program.settings = {"hooks": {"internal": {"enabled": True}}}
    install(guard, MINE.replace(directory_hook=True))
    assert program.settings["hooks"] == {"internal": {"enabled": True}}


# --- What is refused


def test_what_a_host_does_not_offer_is_refused(guard: Guard, state: Path) -> None:
    with pytest.raises(InvalidInput, match="no settings that are shared within a project"):
        install(guard, MINE.replace(shared=True))
    with pytest.raises(InvalidInput, match="no directory hook"):
        guard.install("claude-code", MINE.replace(directory_hook=True))
    assert not state.exists()


# --- What the program says


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("true\n", "true"),
        ('[plugins] x\n{\n "a": 1\n}\n[plugins] y\n', '{"a": 1}'),
        ("2026-11-22 [plugins] loaded\n35000\n", "35000"),
        ("null\n", ""),
    ],
)
def test_values_are_found_among_other_lines(said: str, value: str) -> None:
    assert settings.value_of(ProgramOutcome(0, said)) == value


@pytest.mark.parametrize(
    "words", ["Config path not found: x.y", "Config path is valid but unset: x.y"]
)
def test_only_the_host_s_own_words_mean_that_a_setting_is_not_set(words: str) -> None:
    assert settings.value_of(ProgramOutcome(1, "", words)) == ""


@pytest.mark.parametrize(
    ("code", "said", "error", "words"),
    [
        (1, "", "Error: EACCES: permission denied", "ended with 1 and said: Error: EACCES"),
        (127, "", "No such file", "ended with 127"),
        (124, "", "it did not end within 120 s", "it did not end within 120 s"),
        (0, "[plugins]\nnothing\n", "", "said: [plugins] nothing"),
        (0, "", "", "said: nothing"),
    ],
)
def test_a_program_that_fails_is_an_error_with_its_words_and_never_not_set(
    code: int, said: str, error: str, words: str
) -> None:
    with pytest.raises(HostFailed) as failed:
        settings.value_of(ProgramOutcome(code, said, error))
    assert words in failed.value.message


@pytest.mark.parametrize(
    ("said", "version"),
    [("OpenClaw 2026.9.6 (eb377ac)", (2026, 9, 6)), ("[x]\nOpenClaw 2026.3.13", (2026, 3, 13))],
)
def test_versions_are_read(said: str, version: tuple[int, ...]) -> None:
    assert settings.version_of(said) == version
    assert settings.version_of("") == ()


# --- The command line


def test_init_says_what_it_did_and_what_it_would_do(
    repo: Path, program: Program, hermetic_seal: Path
) -> None:
    environment = {**os.environ, "PATH": f"{program.path.parent}:{os.environ['PATH']}"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [EXECUTABLE, *arguments, "--host", HOST],
            cwd=repo,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    shown = run("init", "--dry-run")
    assert "Would run `openclaw config set plugins.entries.gitguard.enabled true" in shown
    assert program.writes() == []
    done = run("init")
    assert "Ran `openclaw config set plugins.entries.gitguard.enabled true" in done
    assert f"Created `{hermetic_seal}/.openclaw/extensions/gitguard/index.js`." in done
    assert "need no change" in run("init")
    document = json.loads(run("uninstall", "--json"))
    assert document["commands"] == ["openclaw config unset plugins.entries.gitguard"]
