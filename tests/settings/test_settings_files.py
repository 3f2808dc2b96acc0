"""Hosts whose settings files gitguard edits: comments, order and links stay, and all comes back."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from gitguard.errors import HostFailed, InvalidDocument, InvalidInput, SettingsMoved
from gitguard.guard import Guard
from gitguard.hosts.adviser import find_adviser
from gitguard.settings.advice import Advice, AdviceQuestion, Desk, advise
from gitguard.settings.apply_advice import Applied, apply, plan_change
from gitguard.settings.changes_file import ChangesFile
from gitguard.settings.rollback import plan_rollback, roll_back
from tests.conftest import Git, OpenGuard
from tests.support.needed import need_root

Environment = dict[str, str]
QUESTION = AdviceQuestion("tool-heavy", window=200_000)
GEMINI = AdviceQuestion("tool-heavy")
"""Its window is compiled in."""
COMMANDS = {
    "claude": 'echo "2.1.330 (Claude Code)"',
    "gemini": "echo 0.61.0",
    "pi": "echo 0.73.1 >&2",
    "opencode": """
case "$*" in
  "debug paths") echo "config     $HOME/.config/opencode" ;;
  "debug config") test ! -e "$HOME/refuse" || { echo "Expected number" >&2; exit 1; } ;;
  *) echo 1.18.33 ;;
esac""",
    "codex": """
case "$*" in
  "doctor --json")
    file='"'"$HOME/.codex/config.toml"'"'
    test -e "$HOME/.codex/config.toml" || file="[$file, \\"missing\\"]"
    echo '{"checks": {"config.load": {"details": {"CODEX_HOME": "'"$HOME"'/.codex",'
    echo '"config.toml": '"$file"'}}}}'
    exit 1 ;;
  "debug models")
    test ! -e "$HOME/refuse" || { echo "expected i64" >&2; exit 1; }
    echo '{"models": [{"slug": "gpt-5.5", "context_window": 272000}]}' ;;
  *) echo "codex-cli 0.169.0" ;;
esac""",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def desk(guard: Guard, home: Path, tmp_path: Path) -> Desk:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, script in COMMANDS.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(home)}
    places = guard.workspace.places.replace(home=str(home), environment=environment)
    place = guard.workspace.place
    state = guard.workspace.state_folder
    return Desk(places, guard.config, guard.clock, place.worktree, place.common_dir, state)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def question_for(host: str) -> AdviceQuestion:
    return GEMINI if host == "gemini" else QUESTION


def applied(
    desk: Desk, host: str, tmp_path: Path, question: AdviceQuestion | None = None
) -> Applied:
    advice = advise(desk, find_adviser(host), question or question_for(host))
    return apply_it(desk, host, tmp_path, advice)


def apply_it(desk: Desk, host: str, tmp_path: Path, advice: Advice) -> Applied:
    planned = plan_change(desk, find_adviser(host), advice, str(tmp_path / "reach"))
    return apply(desk, find_adviser(host), advice, planned)


CASES = [
    (
        "claude-code",
        "repo/.claude/settings.local.json",
        '{\n\t"model": "opus",\n\t"env": {\n\t\t"A": "1"\n\t}\n}\n',
        '{\n\t"model": "opus",\n\t"env": {\n\t\t"A": "1",\n'
        '\t\t"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "173000"\n\t}\n}\n',
    ),
    (
        "gemini",
        "home/.gemini/settings.json",
        '{\n  // was 0.6\n  "model": {"name": "x", "compressionThreshold": 0.5} /* z */\n}',
        '{\n  // was 0.6\n  "model": {"name": "x", "compressionThreshold": 0.7} /* z */\n}',
    ),
    (
        "opencode",
        "home/.config/opencode/opencode.jsonc",
        '{\n  "model": "a/b", // mine\n  "compaction": {"prune": false}\n}\n',
        '{\n  "model": "a/b", // mine\n  "compaction": {"prune": true, "tail_turns": 1, '
        '"preserve_recent_tokens": 10000}\n}\n',
    ),
    (
        "pi",
        "home/.pi/agent/settings.json",
        '{"theme": "dark"}',
        '{"theme": "dark", "compaction": {"reserveTokens": 60000, "keepRecentTokens": 10000}}',
    ),
    (
        "codex",
        "home/.codex/config.toml",
        '# mine\nmodel = "own" # why\n\n[features]\nhooks = true\n',
        '# mine\nmodel = "own" # why\nmodel_auto_compact_token_limit = 140000\n\n'
        "[features]\nhooks = true\n",
    ),
]


@pytest.mark.parametrize(("host", "name", "before", "after"), CASES)
def test_a_file_is_changed_in_place_and_comes_back_byte_for_byte(
    desk: Desk, tmp_path: Path, host: str, name: str, before: str, after: str
) -> None:
    path = write(tmp_path / name, before)
    path.chmod(0o640)
    done = applied(desk, host, tmp_path)
    assert done.made.file == str(path)
    assert path.read_text() == after
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert Path(done.made.backup).read_text() == before
    assert advise(desk, find_adviser(host), question_for(host)).changes == ()
    roll_back(desk, plan_rollback(desk, host))
    assert path.read_text() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_of_somebody_else_stays_theirs_and_so_does_its_backup(
    desk: Desk, tmp_path: Path, home: Path
) -> None:
    need_root("to give a file away")
    path = write(home / ".pi/agent/settings.json", "{}\n")
    os.chown(path, 1234, 2345)
    backup = Path(applied(desk, "pi", tmp_path).made.backup)

    def owners() -> set[tuple[int, int]]:
        return {(one.stat().st_uid, one.stat().st_gid) for one in (path, backup)}

    assert owners() == {(1234, 2345)}
    roll_back(desk, plan_rollback(desk, "pi"))
    assert owners() == {(1234, 2345)}


@pytest.mark.parametrize("host", [case[0] for case in CASES])
def test_a_file_that_is_not_there_is_made_and_goes_again(
    desk: Desk, tmp_path: Path, host: str
) -> None:
    made = applied(desk, host, tmp_path).made
    assert made.backup == ""
    assert "back as described above" in Path(made.document).read_text()
    assert "Put the backup" not in Path(made.document).read_text()
    name = next(case[1] for case in CASES if case[0] == host)
    assert Path(made.file) == (tmp_path / name).with_suffix(Path(made.file).suffix)
    assert Path(made.file).exists()
    roll_back(desk, plan_rollback(desk, host))
    assert not Path(made.file).exists()


@pytest.mark.parametrize(("host", "name", "before", "_after"), CASES)
def test_a_file_that_does_not_read_is_refused_with_its_place(
    desk: Desk, tmp_path: Path, host: str, name: str, before: str, _after: str
) -> None:
    path = write(tmp_path / name, before.replace("\n", "\n ]", 1).replace('"}', '"', 1))
    with pytest.raises(InvalidDocument, match="cannot be read") as refused:
        advise(desk, find_adviser(host), QUESTION)
    assert str(path) in refused.value.message
    assert "line" in refused.value.message


@pytest.mark.parametrize("host", ["claude-code", "pi"])
def test_comments_that_the_host_does_not_read_are_not_taken_for_json(
    desk: Desk, tmp_path: Path, host: str
) -> None:
    name = next(case[1] for case in CASES if case[0] == host)
    write(tmp_path / name, '{"a": 1, // why\n}')
    with pytest.raises(InvalidDocument, match="as the host reads it"):
        advise(desk, find_adviser(host), QUESTION)


@pytest.mark.parametrize(
    ("host", "text", "said"),
    [
        ("gemini", '{"a": 1,}', "Take trailing commas out"),
        ("gemini", "{'a': 1}", "as the host reads it"),
        ("pi", '{"a": NaN}', "NaN is no JSON"),
        ("pi", '\ufeff{"a": 1}', "byte order mark"),
        ("claude-code", '\ufeff{"a": 1}', "Save it as UTF-8 without one"),
    ],
)
def test_what_is_no_json_to_the_host_is_refused_with_a_hint(
    desk: Desk, tmp_path: Path, host: str, text: str, said: str
) -> None:
    path = write(tmp_path / next(case[1] for case in CASES if case[0] == host), text)
    with pytest.raises(InvalidDocument) as refused:
        advise(desk, find_adviser(host), QUESTION)
    assert said in f"{refused.value.message}; {refused.value.hint}"
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("host", "name", "value"),
    [
        ("gemini", "model", "5"),
        ("pi", "compaction", '"yes"'),
        ("pi", "compaction", "null"),
        ("claude-code", "env", "[]"),
        ("opencode", "compaction", "1"),
    ],
)
def test_a_value_where_an_object_has_to_be_is_said_with_the_advice(
    desk: Desk, tmp_path: Path, host: str, name: str, value: str
) -> None:
    path = tmp_path / next(case[1] for case in CASES if case[0] == host)
    write(path, f'{{"{name}": {value}}}')
    with pytest.raises(InvalidDocument) as refused:
        advise(desk, find_adviser(host), question_for(host))
    assert f"`{name}` in `{path}` is `{value}`, not an object" in refused.value.message


def test_a_value_in_a_file_that_counts_later_is_said_though_an_earlier_one_has_an_object(
    desk: Desk, repo: Path, home: Path
) -> None:
    own = '{"compaction": {"reserveTokens": 1, "keepRecentTokens": 2}}'
    write(home / ".pi/agent/settings.json", own)
    path = write(repo / ".pi/settings.json", '{"compaction": "yes"}')
    with pytest.raises(InvalidDocument, match=f'in `{path}` is `"yes"`, not an object'):
        advise(desk, find_adviser("pi"), QUESTION)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\ufeffa = 1\n", "\ufeffa = 1\n{}\n"),
        ("a = 1\r\n\r\n[b]\r\nc = 2", "a = 1\r\n{}\r\n\r\n[b]\r\nc = 2"),
        ("[b]\r\nc = 2", "{}\r\n\r\n[b]\r\nc = 2"),
        ("a = 1", "a = 1\n{}\n"),
        ("a = 1\r\nb = 2\n", "a = 1\r\nb = 2\n{}\n"),
    ],
)
def test_toml_keeps_its_byte_order_mark_and_its_line_ends(
    desk: Desk, tmp_path: Path, home: Path, before: str, after: str
) -> None:
    path = home / ".codex/config.toml"
    path.parent.mkdir()
    path.write_bytes(before.encode())
    applied(desk, "codex", tmp_path)
    line = "model_auto_compact_token_limit = 140000"
    assert path.read_bytes().decode() == after.format(line)
    roll_back(desk, plan_rollback(desk, "codex"))
    assert path.read_bytes().decode() == before


def test_what_codex_refuses_is_said_in_its_words(desk: Desk, home: Path) -> None:
    (home / "refuse").touch()
    with pytest.raises(InvalidDocument, match="is not valid to Codex: expected i64"):
        advise(desk, find_adviser("codex"), QUESTION)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = " + "[" * 2000 + "]" * 2000, "config.toml` is nested too deeply"),
        ("model_auto_compact_token_limit = 1979-05-27", "is not a number"),
        ("model_auto_compact_token_limit = {a = 1}", "is not a number"),
        ("[model_auto_compact_token_limit]\na = 1", "is not a number"),
    ],
)
def test_what_stands_in_the_way_of_a_setting_is_refused(
    desk: Desk, home: Path, text: str, said: str
) -> None:
    write(home / ".codex/config.toml", text)
    with pytest.raises(InvalidDocument) as refused:
        advise(desk, find_adviser("codex"), QUESTION)
    assert said in refused.value.message


def test_what_opencode_refuses_of_a_change_is_taken_back(
    desk: Desk, tmp_path: Path, home: Path
) -> None:
    path = write(home / ".config/opencode/opencode.json", "{}\n")
    (home / "refuse").touch()
    with pytest.raises(HostFailed, match="is not valid to opencode: Expected number"):
        applied(desk, "opencode", tmp_path)
    assert path.read_text() == "{}\n"


def test_what_somebody_writes_just_before_the_change_stays(
    desk: Desk, tmp_path: Path, home: Path
) -> None:
    path = write(home / ".pi/agent/settings.json", '{"theme": "old"}\n')

    def step(name: str) -> None:
        if name == "settings kept":
            path.write_text('{"theme": "new"}\n')

    with pytest.raises(SettingsMoved, match="changed since it was read|changed while"):
        applied(desk.replace(places=desk.places.replace(at_step=step)), "pi", tmp_path)
    assert path.read_text() == '{"theme": "new"}\n'
    assert os.listdir(path.parent) == ["settings.json"]


def test_what_is_written_just_behind_the_change_is_kept_when_it_is_taken_back(
    desk: Desk, tmp_path: Path, home: Path
) -> None:
    path = write(home / ".pi/agent/settings.json", "{}\n")

    def step(name: str) -> None:
        if name == "settings made":
            path.write_text(path.read_text() + "\n\n")

    applied(desk.replace(places=desk.places.replace(at_step=step)), "pi", tmp_path)
    theirs = path.read_text()
    kept = roll_back(desk, plan_rollback(desk, "pi"))
    assert (Path(kept).read_text(), path.read_text()) == (theirs, "{}\n")
    applied(desk, "pi", tmp_path)
    assert roll_back(desk, plan_rollback(desk, "pi")) == ""


def test_what_a_kill_left_beside_the_file_goes_with_the_rollback(
    desk: Desk, tmp_path: Path, home: Path
) -> None:
    path = write(home / ".pi/agent/settings.json", "{}\n")
    applied(desk, "pi", tmp_path)
    names = ("settings.json.123.tmp", "settings.json.4.tmp", "settings.json.mine.tmp")
    for name in names:
        write(path.parent / name, "{")
        os.utime(path.parent / name, (0, 0))
    os.utime(path.parent / names[1], (desk.clock(), desk.clock()))
    roll_back(desk, plan_rollback(desk, "pi"))
    assert {name for name in os.listdir(path.parent) if name.endswith(".tmp")} == set(names[1:])


# --- Which file


@pytest.mark.parametrize(
    ("host", "environment"),
    [
        ("claude-code", {"CLAUDE_CONFIG_DIR": "own"}),
        ("gemini", {"GEMINI_CLI_HOME": "own"}),
        ("pi", {"PI_CODING_AGENT_DIR": "own"}),
        ("codex", {"HOME": "own"}),
    ],
)
def test_a_path_that_depends_on_the_folder_is_refused(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, environment: Environment
) -> None:
    monkeypatch.chdir(tmp_path)
    named = {**desk.places.environment, **environment}
    desk = desk.replace(places=desk.places.replace(environment=named))
    with pytest.raises(InvalidDocument, match="own/.* is not an absolute path"):
        advise(desk, find_adviser(host), QUESTION)


def test_a_project_that_sets_compaction_is_where_it_is_changed(
    desk: Desk, tmp_path: Path, repo: Path
) -> None:
    write(tmp_path / "home/.pi/agent/settings.json", '{"compaction": {"reserveTokens": 1}}')
    project = write(repo / ".pi/settings.json", '{"compaction": {"enabled": true}}')
    advice = advise(desk, find_adviser("pi"), QUESTION)
    assert advice.configuration.file == str(project)
    assert advice.changes[0].before == "1"


def test_personal_settings_hide_those_of_the_project_and_the_user(
    desk: Desk, tmp_path: Path, repo: Path
) -> None:
    key = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
    for name, value in (("settings.json", "1"), ("settings.local.json", "2")):
        write(repo / ".claude" / name, json.dumps({"env": {key: value}}))
    advice = advise(desk, find_adviser("claude-code"), QUESTION)
    assert advice.changes[0].before == '"2"'
    assert advice.configuration.file == str(repo / ".claude" / "settings.local.json")
    outside = desk.replace(worktree="", common_dir="", state_folder="")
    found = advise(outside, find_adviser("claude-code"), QUESTION).configuration
    assert found.file == str(tmp_path / "home/.claude/settings.json")


def test_the_users_own_link_is_followed_and_stays(desk: Desk, tmp_path: Path, home: Path) -> None:
    real = write(tmp_path / "dotfiles/gemini.json", "{}\n")
    link = home / ".gemini/settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    made = applied(desk, "gemini", tmp_path).made
    assert (made.file, link.is_symlink()) == (str(real), True)
    assert json.loads(link.read_text()) == {"model": {"compressionThreshold": 0.7}}
    roll_back(desk, plan_rollback(desk, "gemini"))
    assert real.read_text() == "{}\n"


def test_a_change_behind_a_link_that_was_cut_off_is_known(
    desk: Desk, tmp_path: Path, home: Path
) -> None:
    real = write(tmp_path / "dotfiles/gemini.json", "{}\n")
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").symlink_to(real)
    made = applied(desk, "gemini", tmp_path).made
    ChangesFile(desk.places.state_home).put(made.replace(after=""))
    assert advise(desk, find_adviser("gemini"), GEMINI).unfinished == made.replace(after="")


@pytest.mark.parametrize("linked", [".claude", ".claude/settings.local.json"])
def test_a_link_in_the_repository_is_refused(
    desk: Desk, tmp_path: Path, repo: Path, linked: str
) -> None:
    theirs = write(tmp_path / "outside/settings.local.json", '{"model": "opus"}')
    (repo / linked).parent.mkdir(exist_ok=True)
    (repo / linked).symlink_to(theirs if linked.endswith("json") else theirs.parent)
    with pytest.raises(InvalidDocument, match="is a symbolic link"):
        applied(desk, "claude-code", tmp_path)
    assert theirs.read_text() == '{"model": "opus"}'


def test_git_status_shows_nothing_of_a_change_and_its_backup(
    desk: Desk, tmp_path: Path, repo: Path, git: Git
) -> None:
    before = git("status", "--porcelain", "--untracked-files=all")
    applied(desk, "claude-code", tmp_path)
    applied(desk, "claude-code", tmp_path, AdviceQuestion("conversational", window=200_000))
    names = os.listdir(repo / ".claude")
    assert len([name for name in names if ".gitguard-" in name]) == 1
    assert git("status", "--porcelain", "--untracked-files=all") == before


def test_what_is_hidden_from_git_is_so_no_longer_than_it_is_there(
    desk: Desk, tmp_path: Path, repo: Path, git: Git
) -> None:
    exclude = repo / ".git/info/exclude"
    before, status = exclude.read_bytes(), git("status", "--porcelain", "-uall")
    applied(desk, "claude-code", tmp_path)
    hidden = exclude.read_bytes()
    assert hidden != before
    applied(desk, "claude-code", tmp_path, AdviceQuestion("conversational", window=200_000))
    roll_back(desk, plan_rollback(desk, "claude-code"))
    assert exclude.read_bytes() == hidden
    for backup in (repo / ".claude").glob("*.bak"):
        backup.unlink()
    roll_back(desk, plan_rollback(desk, "claude-code"))
    assert exclude.read_bytes() == before
    assert git("status", "--porcelain", "-uall") == status


def test_lines_that_were_hidden_before_a_change_stay(
    desk: Desk, tmp_path: Path, repo: Path
) -> None:
    exclude = repo / ".git/info/exclude"
    line = "/.claude/settings.local.json"
    exclude.write_text(f"# >>> gitguard >>>\n{line}\n# <<< gitguard <<<\n")
    before = exclude.read_bytes()
    applied(desk, "claude-code", tmp_path)
    roll_back(desk, plan_rollback(desk, "claude-code"))
    assert exclude.read_bytes() == before


def test_a_change_that_fails_hides_nothing(
    desk: Desk, tmp_path: Path, repo: Path, home: Path
) -> None:
    before = (repo / ".git/info/exclude").read_bytes()
    write(repo / "opencode.json", '{"compaction": {"tail_turns": 9}}')
    (home / "refuse").touch()
    with pytest.raises(HostFailed):
        applied(desk, "opencode", tmp_path)
    assert (repo / ".git/info/exclude").read_bytes() == before
    assert os.listdir(tmp_path / "reach") == []


def test_a_change_in_another_project_is_not_taken_back_here(
    desk: Desk, tmp_path: Path, open_guard: OpenGuard, git: Git
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git.at(other).start()
    place = open_guard(other).workspace.place
    elsewhere = desk.replace(worktree=place.worktree, common_dir=place.common_dir)
    made = applied(elsewhere, "claude-code", tmp_path).made
    assert made.project == str(other)
    typed = f"gitguard config rollback claude-code --root {other}"
    for host in ("claude-code", ""):
        with pytest.raises(InvalidInput, match="but some in other projects") as refused:
            plan_rollback(desk, host)
        assert typed in refused.value.hint
    with pytest.raises(InvalidInput, match="that it could undo$"):
        plan_rollback(desk, "pi")
    assert f"    {typed}\n" in Path(made.document).read_text()
    assert plan_rollback(elsewhere, "").made == made


# --- The window

OWN_MODELS = '{"providers": {"own": {"models": [{"id": "m", "contextWindow": 64000}]}}}'
OWN_MODEL = '{"defaultProvider": "own", "defaultModel": "m"}'


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ('model = "gpt-5.5"', 272_000),
        ('model = "gpt-5.5"\nmodel_context_window = 100000', 100_000),
        ('model = "other"', 0),
        ("", 0),
    ],
)
def test_codex_says_the_window_of_its_models(
    desk: Desk, tmp_path: Path, text: str, window: int
) -> None:
    write(tmp_path / "home/.codex/config.toml", text)
    advice = advise(desk, find_adviser("codex"), AdviceQuestion("mixed"))
    assert advice.figures.window == window
    assert bool(advice.changes) == bool(window)


def test_a_model_that_is_known_has_its_window(desk: Desk, repo: Path) -> None:
    write(repo / ".claude/settings.local.json", '{"model": "claude-haiku-4-5"}')
    advice = advise(desk, find_adviser("claude-code"), AdviceQuestion("mixed"))
    assert (advice.figures.window, advice.window_source) == (200_000, "model")


def test_pi_knows_the_windows_of_the_users_own_models(desk: Desk, home: Path) -> None:
    write(home / ".pi/agent/models.json", OWN_MODELS)
    write(home / ".pi/agent/settings.json", OWN_MODEL)
    advice = advise(desk, find_adviser("pi"), AdviceQuestion("mixed"))
    assert advice.figures.window == 64_000
    assert advice.changes[0].after == "16000"
    write(home / ".pi/agent/models.json", OWN_MODELS.replace("64000", "1e999"))
    assert advise(desk, find_adviser("pi"), AdviceQuestion("mixed")).figures.window == 0


@pytest.mark.parametrize(
    ("host", "files", "window"),
    [
        ("pi", {".pi/agent/models.json": OWN_MODELS, ".pi/agent/settings.json": OWN_MODEL}, 64_000),
        ("codex", {".codex/config.toml": 'model = "gpt-5.5"'}, 272_000),
        ("codex", {".codex/config.toml": "model_context_window = 100000"}, 100_000),
        ("gemini", {}, 1_048_576),
    ],
)
def test_a_window_that_is_not_the_hosts_is_refused_with_both(
    desk: Desk, home: Path, host: str, files: dict[str, str], window: int
) -> None:
    for name, text in files.items():
        write(home / name, text)
    adviser = find_adviser(host)
    for other in (window - 1, window + 1):
        said = f"`--window {other}`: {adviser.TITLE} works with {window:,} tokens"
        with pytest.raises(InvalidInput, match=said):
            advise(desk, adviser, AdviceQuestion("mixed", window=other))
    same = advise(desk, adviser, AdviceQuestion("mixed", window=window))
    assert (same.figures.window, same.window_source) == (window, "host")


def test_settings_are_reckoned_with_the_hosts_window_also_where_the_user_caps_windows(
    desk: Desk, home: Path
) -> None:
    write(home / ".pi/agent/models.json", OWN_MODELS)
    write(home / ".pi/agent/settings.json", OWN_MODEL)
    desk = desk.replace(config=desk.config.replace(window=desk.config.window.replace(cap=32_000)))
    advice = advise(desk, find_adviser("pi"), AdviceQuestion("mixed"))
    assert (advice.figures.window, advice.window_source) == (64_000, "host")
    assert "at about 75% of the window of 64,000 tokens" in advice.changes[0].practice


def test_a_compaction_that_is_switched_off_is_said_and_stays(desk: Desk, home: Path) -> None:
    write(home / ".pi/agent/settings.json", '{"compaction": {"enabled": false}}')
    advice = advise(desk, find_adviser("pi"), QUESTION)
    assert any("stays so" in note for note in advice.offer.notes)
    assert "compaction.enabled" not in {one.key for one in advice.changes}
