"""Advice is applied whole and so that it can be taken back, or not at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard.errors import (
    GitguardError,
    HostFailed,
    InvalidDocument,
    InvalidInput,
    Locked,
    SettingsMoved,
)
from gitguard.guard import Guard
from gitguard.hosts.adviser import find_adviser, only_host
from gitguard.profile import advice_log
from gitguard.profile.habits import DECLINED, GIVEN, NOTHING_NEW
from gitguard.profile.learning import Past
from gitguard.settings.advice import Advice, AdviceQuestion, Desk, ObservedWork, advise
from gitguard.settings.apply_advice import Applied, apply, plan_change
from gitguard.settings.changes_file import ChangesFile
from gitguard.settings.remembered_advice import (
    remember_advice,
    remember_change,
    remember_rollback,
    with_lessons,
)
from gitguard.settings.rollback import forget, newest_change, plan_rollback, roll_back
from gitguard.store.session.install_ledger import Installed, LedgerFile
from tests.conftest import Git
from tests.support.settings_host import NEWER, SECRET, SettingsHost

HOST = "openclaw"
FLOOR = "agents.defaults.compaction.reserveTokensFloor"
TTL = "agents.defaults.contextPruning.ttl"
TOOL_HEAVY = AdviceQuestion("tool-heavy")


@pytest.fixture
def host(tmp_path: Path) -> SettingsHost:
    return SettingsHost(tmp_path / "host")


@pytest.fixture
def desk(guard: Guard, host: SettingsHost, tmp_path: Path) -> Desk:
    """Where advice is given in the repository, with a session."""
    guard.ensure()
    home = tmp_path / "home"
    home.mkdir()
    environment = {**guard.workspace.places.environment, "PATH": f"{host.bin}:/usr/bin:/bin"}
    places = guard.workspace.places.replace(home=str(home), environment=environment)
    place = guard.workspace.place
    return Desk(
        places,
        guard.config,
        guard.clock,
        place.worktree,
        place.common_dir,
        guard.workspace.state_folder,
        guard.store(),
    )


def given(desk: Desk, question: AdviceQuestion = TOOL_HEAVY) -> Advice:
    return advise(desk, find_adviser(HOST), question)


def applied(desk: Desk, tmp_path: Path, advice: Advice | None = None) -> Applied:
    adviser, advice = find_adviser(HOST), advice or given(desk)
    planned = plan_change(desk, adviser, advice, str(tmp_path / "reach"))
    return apply(desk, adviser, advice, planned)


def traces(host: SettingsHost, tmp_path: Path) -> tuple[list[str], list[str]]:
    """Return what lies beside the file and where people reach documents."""
    reach = tmp_path / "reach"
    beside = [path.name for path in host.folder.glob("openclaw.json?*")]
    return sorted(beside), sorted(os.listdir(reach)) if reach.exists() else []


# --- Advice


def test_advice_changes_nothing(desk: Desk, host: SettingsHost) -> None:
    before = host.config.read_bytes()
    advice = given(desk)
    assert advice.configuration.file == str(host.config)
    assert (advice.configuration.version, advice.figures.window) == ("2026.3.13", 200_000)
    assert [one.key.rpartition(".")[2] for one in advice.changes] == [
        "reserveTokensFloor",
        "mode",
        "ttl",
        "keepLastAssistants",
        "minPrunableToolChars",
    ]
    assert host.config.read_bytes() == before


def test_a_window_that_the_user_has_capped_is_no_larger(desk: Desk, host: SettingsHost) -> None:
    host.write({"agents": {"defaults": {"contextTokens": 100_000}}})
    assert given(desk).figures.window == 100_000
    host.write({"agents": {"defaults": {"contextTokens": 900_000}}})
    assert given(desk).figures.window == 200_000


def test_where_gitguard_halts_the_agent_the_host_is_to_compress_before(
    desk: Desk, host: SettingsHost
) -> None:
    calm = AdviceQuestion("conversational")
    assert given(desk, calm).figures.free == 30_000
    LedgerFile(desk.places.state_home, "openclaw").write({"/x": Installed()})
    assert given(desk, calm).figures.free == 35_000
    window = desk.config.window.replace(cap=190_000)
    capped = desk.replace(config=desk.config.replace(window=window))
    assert given(capped, calm).figures.free == 43_250  # 82.5 % of what gitguard measures by


def test_a_host_that_is_not_installed_is_said(desk: Desk) -> None:
    nowhere = desk.places.replace(environment={"PATH": "/nowhere"})
    with pytest.raises(InvalidInput, match="`openclaw` is not on PATH"):
        given(desk.replace(places=nowhere))


def test_a_program_of_the_repository_is_not_run(desk: Desk, repo: Path) -> None:
    own = repo / "openclaw"
    own.write_text("#!/bin/sh\ntouch ran\n")
    own.chmod(0o755)
    inside = desk.places.replace(environment={"PATH": str(repo)})
    with pytest.raises(InvalidInput, match="not on PATH"):
        given(desk.replace(places=inside))
    assert not (repo / "ran").exists()


def test_a_file_that_the_host_cannot_read_is_refused_in_its_words(
    desk: Desk, host: SettingsHost
) -> None:
    host.config.write_text('{"agents": ')
    with pytest.raises(InvalidDocument, match="is not valid to OpenClaw: <root>: JSON5 parse"):
        given(desk)


def test_without_a_name_it_is_the_one_host_on_path(host: SettingsHost) -> None:
    assert only_host({"PATH": str(host.bin)}, "") == HOST
    inside = {"PATH": str(host.bin), "CLAUDE_CODE_SESSION_ID": "x"}
    assert only_host(inside, "") == "claude-code"
    with pytest.raises(InvalidInput, match="no host's command is on PATH"):
        only_host({"PATH": "/nowhere"}, "")
    (host.bin / "codex").write_bytes((host.bin / "openclaw").read_bytes())
    (host.bin / "codex").chmod(0o755)
    with pytest.raises(InvalidInput, match="several hosts are on PATH"):
        only_host({"PATH": str(host.bin)}, "")


# --- Applying


def test_settings_are_made_by_the_hosts_own_command_one_at_a_time(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    before = host.config.read_bytes()
    done = applied(desk, tmp_path)
    assert host.writes() == [key for key, _, _ in done.made.changes]
    assert host.defaults()["compaction"] == {"reserveTokensFloor": 60_000}
    assert host.defaults()["contextPruning"]["ttl"] == "1m"
    assert done.checked_by == "openclaw config validate"
    assert Path(done.made.backup).read_bytes() == before
    assert Path(done.made.backup).parent == host.folder


def test_the_backup_is_for_nobody_else(desk: Desk, host: SettingsHost, tmp_path: Path) -> None:
    host.config.chmod(0o644)
    backup = Path(applied(desk, tmp_path).made.backup)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_the_rollback_document_says_all_that_is_needed(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    made = applied(desk, tmp_path).made
    text = Path(made.document).read_text()
    assert Path(made.document).parent == tmp_path / "reach"
    row = '| How quickly old tool output is cleared | `{}` | `not set` | `"1m"` |'
    for expected in (
        row.format(TTL),
        f"Backup: `{made.backup}`",
        "gitguard config rollback openclaw",
        f"    mv {host.config}.bak {host.config}.bak.aside\n    cp {made.backup} {host.config}\n",
        "openclaw gateway restart",
        "openclaw gateway status",
        "openclaw doctor",
    ):
        assert expected in text
    assert SECRET not in text


def test_applied_once_there_is_nothing_more_to_apply(desk: Desk, tmp_path: Path) -> None:
    applied(desk, tmp_path)
    again = given(desk)
    assert again.changes == ()
    with pytest.raises(InvalidInput, match="nothing to apply"):
        plan_change(desk, find_adviser(HOST), again, str(tmp_path))


def test_what_a_version_does_not_have_is_left_out_and_said(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    host.tell(unknown=[FLOOR])
    done = applied(desk, tmp_path)
    assert done.left_out == (FLOOR,)
    assert FLOOR not in [key for key, _, _ in plan_rollback(desk, HOST).made.changes]
    assert FLOOR not in Path(done.made.document).read_text()
    assert "compaction" not in host.defaults()
    assert host.defaults()["contextPruning"]["mode"] == "cache-ttl"


def test_a_version_that_has_none_of_the_settings_is_said(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    host.tell(unknown=[one.key for one in given(desk).changes])
    with pytest.raises(HostFailed, match="has none of these settings"):
        applied(desk, tmp_path)
    assert traces(host, tmp_path) == ([], [])


def test_a_newer_version_gets_what_it_has(desk: Desk, host: SettingsHost, tmp_path: Path) -> None:
    host.tell(version=NEWER)
    applied(desk, tmp_path)
    assert host.defaults() == {
        "compaction": {"recentTurnsPreserve": 1, "keepRecentTokens": 10_000},
        "contextPruning": {"mode": "cache-ttl", "ttl": "1m"},
    }


# --- Faults: all is as it was


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"failing": [TTL]}, f'did not set `{TTL}` to `"1m"`: disk full'),
        ({"failing": [FLOOR]}, "disk full"),
        ({"ignored": [TTL]}, f'`{TTL}` is `not set` and not `"1m"`'),
        ({"elsewhere": [TTL]}, f"reported that it set `{TTL}`, but did not change `"),
        ({"invalid_after": True}, "agents: out of range"),
    ],
)
def test_a_change_that_fails_halfway_is_taken_back(
    desk: Desk, host: SettingsHost, tmp_path: Path, told: dict[str, object], said: str
) -> None:
    before, mode = host.config.read_bytes(), host.config.stat().st_mode
    host.tell(**told)
    with pytest.raises(HostFailed) as failed:
        applied(desk, tmp_path)
    assert said in failed.value.message
    assert host.config.read_bytes() == before
    assert host.config.stat().st_mode == mode
    beside, reachable = traces(host, tmp_path)
    assert (len(beside), reachable) == (len(host.writes()) > 1 or "failing" not in told, [])
    assert all(name in failed.value.hint for name in beside)
    assert ChangesFile(desk.places.state_home).read() == ()


def test_an_interrupt_takes_it_back_too(desk: Desk, host: SettingsHost, tmp_path: Path) -> None:
    before = host.config.read_bytes()

    def interrupt(step: str) -> None:
        if step == f"setting {TTL}":
            raise KeyboardInterrupt

    interrupted = desk.replace(places=desk.places.replace(at_step=interrupt))
    with pytest.raises(KeyboardInterrupt):
        applied(interrupted, tmp_path)
    assert host.config.read_bytes() == before
    beside, reachable = traces(host, tmp_path)
    assert ([name.endswith(".undone") for name in beside], reachable) == ([True], [])


def after_step(desk: Desk, named: str, does: Callable[[], object]) -> Desk:
    """Return a desk at which something happens between two steps of a change."""

    def step(name: str) -> None:
        if name == named:
            does()

    return desk.replace(places=desk.places.replace(at_step=step))


def test_what_somebody_wrote_before_a_change_failed_is_kept(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    before = host.config.read_bytes()
    host.tell(failing=[TTL])
    busy = after_step(desk, f"setting {FLOOR}", lambda: change_by_somebody(host))
    with pytest.raises(HostFailed) as failed:
        applied(busy, tmp_path)
    assert host.config.read_bytes() == before
    (kept,) = traces(host, tmp_path)[0]
    assert '"theme": "dark"' in (host.folder / kept).read_text()
    assert stat.S_IMODE((host.folder / kept).stat().st_mode) == 0o600
    assert kept in failed.value.hint


def test_what_somebody_wrote_while_settings_were_made_is_kept_when_they_are_taken_back(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    busy = after_step(desk, f"setting {FLOOR}", lambda: change_by_somebody(host))
    applied(busy, tmp_path)
    kept = roll_back(desk, plan_rollback(desk, HOST))
    assert '"theme": "dark"' in Path(kept).read_text()


def test_what_somebody_wrote_before_the_first_setting_stays(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    busy = after_step(desk, "settings kept", lambda: change_by_somebody(host))
    with pytest.raises(SettingsMoved, match="changed since it was read|changed while"):
        applied(busy, tmp_path)
    assert host.defaults() == {"theme": "dark"}
    assert host.writes() == []
    assert traces(host, tmp_path) == ([], [])
    assert ChangesFile(desk.places.state_home).read() == ()


def test_a_change_that_cannot_be_written_down_as_made_is_taken_back(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    before, record = host.config.read_bytes(), Path(ChangesFile(desk.places.state_home).path)

    def damage() -> None:
        record.unlink()
        record.mkdir()

    with pytest.raises(GitguardError):
        applied(after_step(desk, "settings made", damage), tmp_path)
    assert host.config.read_bytes() == before


def test_half_a_change_that_cannot_be_taken_back_at_once_is_known_and_says_what_to_do(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    before = host.config.read_bytes()

    def block() -> None:
        host.config.unlink()
        host.config.mkdir()

    with pytest.raises(InvalidDocument) as failed:
        applied(after_step(desk, f"setting {FLOOR}", block), tmp_path)
    assert "may be half changed" in failed.value.hint
    assert "`gitguard config rollback openclaw`" in failed.value.hint
    host.config.rmdir()
    roll_back(desk, plan_rollback(desk, HOST))
    assert host.config.read_bytes() == before


def test_a_file_that_could_not_be_changed_is_not_touched_when_it_is_given_back(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    host.tell(failing=[FLOOR])
    before = host.config.stat()
    with pytest.raises(HostFailed):
        applied(desk, tmp_path)
    after = host.config.stat()
    assert (after.st_ino, after.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


def test_no_backup_stays_of_a_change_whose_document_cannot_be_written(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    (tmp_path / "reach").write_text("no folder")
    with pytest.raises(GitguardError):
        applied(desk, tmp_path)
    assert list(host.folder.glob("openclaw.json?*")) == []
    assert ChangesFile(desk.places.state_home).read() == ()


KILLED = """
import os, signal, sys
from gitguard.hosts.adviser import find_adviser
from gitguard.model.config.config import DEFAULTS
from gitguard.store.session.workspace import UserDirs
from gitguard.settings.advice import Desk, AdviceQuestion, advise
from gitguard.settings.apply_advice import apply, plan_change
state, reach, path, when = sys.argv[1:]
def at_step(step):
    if step == when:
        os.kill(os.getpid(), signal.SIGKILL)
places = UserDirs(state, state, environment={"PATH": path}, home=state, at_step=at_step)
desk = Desk(places, DEFAULTS, lambda: 1_800_000_000.0)
adviser = find_adviser("openclaw")
advice = advise(desk, adviser, AdviceQuestion("tool-heavy"))
apply(desk, adviser, advice, plan_change(desk, adviser, advice, reach))
"""


@pytest.mark.parametrize("when", ["settings kept", f"setting {FLOOR}", f"setting {TTL}"])
def test_a_kill_in_between_is_known_to_the_next_run_and_can_be_taken_back(
    desk: Desk, host: SettingsHost, tmp_path: Path, when: str
) -> None:
    before = host.config.read_bytes()
    arguments = (desk.places.state_home, str(tmp_path / "reach"), str(host.bin), when)
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False)
    assert done.returncode == -signal.SIGKILL

    advice = given(desk)
    assert advice.unfinished is not None
    with pytest.raises(SettingsMoved, match="was interrupted") as refused:
        plan_change(desk, find_adviser(HOST), advice, str(tmp_path))
    assert "gitguard config rollback openclaw" in refused.value.hint

    roll_back(desk, plan_rollback(desk, HOST))
    assert host.config.read_bytes() == before
    assert given(desk).unfinished is None


def test_a_change_that_is_being_made_is_not_taken_for_one_that_was_cut_off(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    refused: list[str] = []

    def ask_again() -> None:
        for question in (given, lambda at: plan_rollback(at, HOST)):
            with pytest.raises(Locked) as held:
                question(desk)
            refused.append(held.value.message)

    done = applied(after_step(desk, f"setting {FLOOR}", ask_again), tmp_path)
    assert len(refused) == 2
    assert given(desk).unfinished is None
    assert plan_rollback(desk, HOST).made == done.made


def test_half_a_change_that_the_host_cannot_read_is_said_to_be_one(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    before = host.config.read_bytes()
    made = applied(desk, tmp_path).made
    ChangesFile(desk.places.state_home).put(made.replace(after=""))
    host.config.write_text('{"agents": ')
    with pytest.raises(SettingsMoved, match="was interrupted"):
        given(desk)
    kept = roll_back(desk, plan_rollback(desk, ""))
    assert Path(kept).read_text() == '{"agents": '
    assert host.config.read_bytes() == before


# --- Bad input


def change_by_somebody(host: SettingsHost) -> None:
    document = host.document()
    document["agents"]["defaults"]["theme"] = "dark"
    host.write(document)


def test_a_file_that_changed_since_the_advice_is_left_alone(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    advice = given(desk)
    change_by_somebody(host)
    before = host.config.read_bytes()
    with pytest.raises(SettingsMoved, match="changed since it was read|changed while") as refused:
        applied(desk, tmp_path, advice)
    assert '+      "theme": "dark"' in refused.value.difference
    assert host.config.read_bytes() == before
    assert traces(host, tmp_path) == ([], [])


def test_a_link_is_refused_as_the_hosts_command_would_replace_it(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    real = host.folder / "real.json"
    host.config.rename(real)
    host.config.symlink_to(real)
    with pytest.raises(InvalidDocument, match="is a symbolic link") as refused:
        applied(desk, tmp_path)
    assert str(real) in refused.value.hint
    assert host.config.is_symlink()


def test_a_file_with_another_name_is_refused_as_that_would_keep_the_old_settings(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    os.link(host.config, tmp_path / "dotfile.json")
    with pytest.raises(InvalidDocument, match="is a hard link"):
        applied(desk, tmp_path)
    assert traces(host, tmp_path) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        '{"agents": {"defaults": {"x": [{"$include": "./a.json5"}]}}}',
        '{"agents": {"$\\u0069nclude": ["./a.json5"], "defaults": {}}}',
    ],
)
def test_where_the_file_includes_others_advice_is_given_and_nothing_applied(
    desk: Desk, host: SettingsHost, tmp_path: Path, text: str
) -> None:
    host.config.write_text(text)
    advice = given(desk)
    assert advice.changes
    with pytest.raises(InvalidDocument, match="includes other files"):
        applied(desk, tmp_path, advice)
    assert host.config.read_text() == text
    assert traces(host, tmp_path) == ([], [])


def test_what_the_host_reads_and_gitguard_does_not_is_not_changed(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    host.config.write_text('{"a": ' + "[" * 200 + "]" * 200 + "}")
    with pytest.raises(InvalidDocument, match="cannot tell what is in it"):
        applied(desk, tmp_path)


def test_a_file_that_is_not_there_yet_is_gone_again_after_the_rollback(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    host.config.unlink()
    done = applied(desk, tmp_path)
    assert done.made.backup == ""
    assert f"rm {host.config}" in Path(done.made.document).read_text()
    roll_back(desk, plan_rollback(desk, HOST))
    assert not host.config.exists()


# --- Back


def test_rollback_gives_the_same_bytes_and_permissions_back(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    host.config.write_text('{\n  "agents": {"defaults":   {}} }')
    host.config.chmod(0o640)
    before = host.config.read_bytes()
    applied(desk, tmp_path)
    host.config.chmod(0o600)
    planned = plan_rollback(desk, "")
    assert '"ttl": "1m"' in planned.difference()
    made = host.config.read_bytes()
    assert Path(roll_back(desk, planned)).read_bytes() == made
    assert host.config.read_bytes() == before
    assert stat.S_IMODE(host.config.stat().st_mode) == 0o640


def test_a_host_that_puts_its_own_backup_in_place_is_outlasted(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    host.tell(recovers=True)
    before = host.config.read_bytes()
    backup = Path(applied(desk, tmp_path).made.backup)
    half = (host.folder / "openclaw.json.bak").read_bytes()
    roll_back(desk, plan_rollback(desk, HOST))
    assert given(desk).changes
    assert host.config.read_bytes() == before
    assert backup.with_name(f"{backup.name}.host").read_bytes() == half


def test_the_half_of_a_change_does_not_come_back_from_the_hosts_own_backup(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    host.tell(recovers=True, ignored=[TTL])
    before = host.config.read_bytes()
    with pytest.raises(HostFailed):
        applied(desk, tmp_path)
    host.tell(ignored=[])
    assert given(desk).changes
    assert host.config.read_bytes() == before


def test_what_somebody_writes_while_the_host_reads_what_it_was_given_back_stays(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    host.tell(recovers=True)
    applied(desk, tmp_path)
    planned = plan_rollback(desk, HOST)
    host.tell(writes_while_listing=True)
    with pytest.raises(InvalidDocument, match="could not be restored"):
        roll_back(desk, planned)
    assert host.document()["theirs"]


def test_changes_are_taken_back_one_after_another(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    first = host.config.read_bytes()
    applied(desk, tmp_path)
    second = host.config.read_bytes()
    applied(desk, tmp_path, given(desk, AdviceQuestion("conversational")))
    roll_back(desk, plan_rollback(desk, HOST))
    assert host.config.read_bytes() == second
    roll_back(desk, plan_rollback(desk, HOST))
    assert host.config.read_bytes() == first
    with pytest.raises(InvalidInput, match="no settings of `openclaw` that it could undo"):
        plan_rollback(desk, HOST)


def test_a_file_that_changed_since_is_taken_back_only_when_told(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    before = host.config.read_bytes()
    applied(desk, tmp_path)
    change_by_somebody(host)
    theirs = host.config.read_bytes()
    planned = plan_rollback(desk, HOST)
    with pytest.raises(SettingsMoved, match="was changed after") as refused:
        roll_back(desk, planned)
    assert '"theme": "dark"' in refused.value.difference
    assert host.config.read_bytes() == theirs
    kept = roll_back(desk, planned, even_if_moved=True)
    assert Path(kept).read_bytes() == theirs
    assert host.config.read_bytes() == before


def test_a_file_that_changes_while_somebody_reads_the_plan_is_left_alone(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    applied(desk, tmp_path)
    planned = plan_rollback(desk, HOST)
    change_by_somebody(host)
    with pytest.raises(SettingsMoved, match="changed since it was read|changed while") as refused:
        roll_back(desk, planned, even_if_moved=True)
    assert "advice" not in refused.value.hint


def test_a_backup_that_is_not_what_was_kept_is_not_put_back(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    made = applied(desk, tmp_path).made
    Path(made.backup).write_text("{}")
    with pytest.raises(InvalidDocument, match="has other content"):
        plan_rollback(desk, HOST)
    Path(made.backup).unlink()
    with pytest.raises(InvalidDocument, match="is gone") as refused:
        plan_rollback(desk, HOST)
    assert refused.value.hint.startswith(f"Look at `{made.document}`; ")
    Path(made.document).unlink()
    with pytest.raises(InvalidDocument) as refused:
        plan_rollback(desk, HOST)
    assert "Look at" not in refused.value.hint


def cut_off_halfway(desk: Desk, host: SettingsHost, tmp_path: Path) -> Path:
    """Leave a change that was cut off and whose backup is gone; return where that was."""
    made = applied(desk, tmp_path).made
    ChangesFile(desk.places.state_home).put(made.replace(after=""))
    Path(made.backup).unlink()
    return Path(made.backup)


def test_a_change_that_was_cut_off_and_did_nothing_needs_no_backup_to_go(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    before = host.config.read_bytes()
    cut_off_halfway(desk, host, tmp_path)
    host.config.write_bytes(before)
    assert roll_back(desk, plan_rollback(desk, HOST)) == ""
    assert host.config.read_bytes() == before
    assert given(desk).unfinished is None


def test_a_change_that_cannot_be_taken_back_can_be_forgotten(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    cut_off_halfway(desk, host, tmp_path)
    left = host.config.read_bytes()
    with pytest.raises(InvalidDocument) as refused:
        plan_rollback(desk, HOST)
    assert "gitguard config rollback openclaw --forget" in refused.value.hint
    forget(desk, newest_change(desk, HOST))
    assert given(desk).unfinished is None
    assert host.config.read_bytes() == left


def test_a_lost_backup_does_not_keep_older_changes_from_being_taken_back(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    before = host.config.read_bytes()
    older = applied(desk, tmp_path).made
    newer = applied(desk, tmp_path, given(desk, AdviceQuestion("conversational"))).made
    Path(newer.backup).unlink()
    planned = plan_rollback(desk, HOST)
    assert (planned.made, planned.is_moved) == (older, True)
    with pytest.raises(SettingsMoved, match=f"by its change at .*`{newer.backup}` is gone"):
        roll_back(desk, planned)
    roll_back(desk, planned, even_if_moved=True)
    assert host.config.read_bytes() == before
    assert ChangesFile(desk.places.state_home).read() == ()


def test_a_file_that_changes_while_the_host_is_asked_is_not_advised_on(
    desk: Desk, host: SettingsHost
) -> None:
    program = host.bin / "openclaw"
    wrote = 'open(CONFIG, "w").write(\'{"agents": {"defaults": {"theme": "dark"}}}\')'
    asked = 'elif words[:2] == ["models", "list"]:\n'
    program.write_text(program.read_text().replace(asked, f"{asked}    {wrote}\n"))
    with pytest.raises(SettingsMoved, match="while OpenClaw was asked") as refused:
        given(desk)
    assert '"theme": "dark"' in refused.value.difference


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 1}', '{"format": 1, "changes": [1]}'])
def test_a_damaged_memory_of_changes_is_said(desk: Desk, text: str) -> None:
    record = Path(ChangesFile(desk.places.state_home).path)
    record.write_text(text)
    with pytest.raises(GitguardError) as refused:
        plan_rollback(desk, HOST)
    assert str(record) in refused.value.message


# --- The session


def test_housekeeping_of_ours_is_no_decision_of_the_task(
    desk: Desk, guard: Guard, tmp_path: Path, git: Git
) -> None:
    head = git("rev-parse", "gitguard/main")
    advice = given(desk)
    assert remember_advice(desk, advice, GIVEN) == ""
    done = applied(desk, tmp_path, advice)
    assert remember_change(desk, advice, done) == ""
    roll_back(desk, plan_rollback(desk, HOST))
    assert remember_rollback(desk, done.made) == ""
    assert [each.advice.outcome for each in past(guard).advised] == [
        "rolled back",
        "applied",
        "given",
    ]
    assert guard.state().decisions == ()
    assert git("rev-parse", "gitguard/main") == head


def test_without_a_conversation_the_usual_pattern_of_past_sessions_counts(desk: Desk) -> None:
    usual = AdviceQuestion(usual="tool-heavy", why_usual="3 of 3 sessions were tool-heavy")
    advice = given(desk, usual)
    assert (advice.pattern, advice.figures.pattern) == ("tool-heavy", "tool-heavy")
    assert advice.evidence[0] == "usual: 3 of 3 sessions were tool-heavy"
    assert given(desk, usual.replace(pattern="bursty")).pattern == "bursty"
    work = ObservedWork(HOST, "bursty", ("its calls come in rows",))
    assert given(desk, usual.replace(work=work)).pattern == "bursty"


def test_an_assumed_pattern_is_remembered_as_none(desk: Desk, guard: Guard, tmp_path: Path) -> None:
    assumed = given(desk, AdviceQuestion())
    assert assumed.figures.pattern == "mixed"
    assert remember_advice(desk, assumed, "given") == ""
    assert remember_change(desk, assumed, applied(desk, tmp_path, assumed)) == ""
    past = guard.profile.past_advice()
    assert [each.advice.pattern for each in past.advised] == ["unknown", "unknown"]
    assert past.habit.patterns == ()


def test_without_a_session_there_is_nothing_to_remember_in(desk: Desk, tmp_path: Path) -> None:
    advice = given(desk)
    done = applied(desk, tmp_path, advice)
    assert remember_change(desk.replace(store=None), advice, done) == ""


def test_a_state_directory_that_cannot_be_written_is_said(
    desk: Desk, guard: Guard, tmp_path: Path
) -> None:
    advice = given(desk)
    done = applied(desk, tmp_path, advice)
    Path(advice_log.path_in(guard.workspace.state_folder)).mkdir()
    assert "_advice.jsonl" in remember_change(desk, advice, done)


def past(guard: Guard) -> Past:
    return guard.profile.past_advice()


def test_what_is_only_named_is_no_pattern_of_past_sessions(
    desk: Desk, guard: Guard, tmp_path: Path
) -> None:
    advice = given(desk)
    remember_advice(desk, advice, GIVEN)
    done = applied(desk, tmp_path, advice)
    remember_change(desk, advice, done)
    remember_rollback(desk, done.made)
    assert past(guard).habit.patterns == ()
    work = ObservedWork(HOST, "tool-heavy", ("90% of it is calls of tools",))
    seen = given(desk, TOOL_HEAVY.replace(work=work))
    assert seen.evidence == ("named", "90% of it is calls of tools")
    remember_advice(desk, seen, GIVEN)
    assert past(guard).habit.patterns == (("tool-heavy", 1),)


def test_the_same_advice_is_recorded_once_in_a_row(desk: Desk, guard: Guard) -> None:
    calm = given(desk, AdviceQuestion("conversational"))
    for advice, outcome in (
        *[(given(desk), GIVEN)] * 2,
        *[(calm, GIVEN)] * 2,
        *[(calm, DECLINED)] * 2,
        (calm, GIVEN),
    ):
        guard.note({"goal": f"Another than {guard.state().goal}"})
        assert remember_advice(desk, advice, outcome) == ""
    told = [(one.advice.pattern, one.advice.outcome) for one in reversed(past(guard).advised)]
    assert told == [
        ("tool-heavy", GIVEN),
        ("conversational", GIVEN),
        *[("conversational", DECLINED)] * 2,
        ("conversational", GIVEN),
    ]


def test_what_was_rolled_back_is_withheld_for_the_same_work_until_it_is_applied_again(
    desk: Desk, guard: Guard, host: SettingsHost, tmp_path: Path
) -> None:
    advice = given(desk)
    assert with_lessons(advice, past(guard)).changes == advice.changes
    for _ in range(2):
        done = applied(desk, tmp_path, advice)
        remember_change(desk, advice, done)
        before = host.config.read_bytes()
        assert with_lessons(advice, past(guard)).changes == advice.changes
        roll_back(desk, plan_rollback(desk, HOST))
        assert host.config.read_bytes() != before
        remember_rollback(desk, done.made)
        told = with_lessons(advice, past(guard))
        assert told.changes == ()
        assert tuple(one.setting for one in told.withheld) == advice.changes
        assert all(one.why.startswith("was rolled back on 20") for one in told.withheld)
        again = with_lessons(advice, past(guard), again=True)
        assert (again.changes, again.withheld) == (advice.changes, ())
        assert any("was rolled back on 20" in note for note in again.offer.notes)
    other = given(desk, AdviceQuestion("bursty"))
    assert with_lessons(other, past(guard)).changes == other.changes
    remember_advice(desk, with_lessons(advice, past(guard)), GIVEN)
    assert past(guard).advised[0].advice.words == NOTHING_NEW


def test_of_two_changes_the_one_that_was_declined_twice_is_withheld(
    desk: Desk, guard: Guard
) -> None:
    advice = given(desk)
    for _ in range(2):
        assert with_lessons(advice, past(guard)).changes == advice.changes
        remember_advice(desk, advice.replace(changes=advice.changes[:1]), DECLINED)
    told = with_lessons(advice, past(guard))
    assert told.changes == advice.changes[1:]
    assert [one.why for one in told.withheld] == ["was declined 2 times"]


def test_a_change_that_was_cut_off_is_no_reason_against_it(
    desk: Desk, guard: Guard, tmp_path: Path
) -> None:
    advice = given(desk)
    cut = applied(desk, tmp_path, advice).made.replace(after="")
    assert remember_rollback(desk, cut) == ""
    assert with_lessons(advice, past(guard)).withheld == ()


def test_nothing_to_advise_is_not_nothing_to_change(desk: Desk, guard: Guard) -> None:
    advice = given(desk)
    for right, said in ((advice.changes, "nothing to change"), ((), "nothing to advise")):
        remember_advice(desk, advice.replace(changes=(), right=right), GIVEN)
        assert past(guard).advised[0].advice.words == said


def test_going_back_never_brings_a_plugin_back_that_was_uninstalled(
    desk: Desk, host: SettingsHost, tmp_path: Path
) -> None:
    host.write({**host.document(), "plugins": {"entries": {"gitguard": {"enabled": True}}}})
    applied(desk, tmp_path)
    left = {name: value for name, value in host.document().items() if name != "plugins"}
    host.write(left)
    with pytest.raises(SettingsMoved, match="uninstalled") as refused:
        plan_rollback(desk, HOST)
    assert "gitguard init --host openclaw" in refused.value.hint
    assert host.document() == left


def test_a_session_of_over_two_hours_brings_its_advice_without_hours(desk: Desk) -> None:
    short, long = (
        given(desk, AdviceQuestion(work=ObservedWork(HOST, "tool-heavy", (), hours=hours)))
        for hours in (2.0, 2.5)
    )
    assert (short.figures.is_long, long.figures.is_long) == (False, True)
    assert long.figures.free > short.figures.free
    named = AdviceQuestion(hours=1, work=ObservedWork(HOST, "tool-heavy", (), hours=2.5))
    assert not given(desk, named).figures.is_long
