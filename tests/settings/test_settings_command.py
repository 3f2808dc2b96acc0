"""The commands about hosts' settings, as people and programs use them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitguard.profile import advice_log
from gitguard.settings.changes_file import ChangesFile
from gitguard.store.disk.lock import Lock
from tests.support import written_conversations as written
from tests.support.forked import run, simple_command
from tests.support.scratch import console_blocks, environment, is_as_promised, make_repository
from tests.support.settings_host import SECRET, SettingsHost
from tests.support.staged import staged_object
from tests.support.waiting import wait_until

PAGE = Path(__file__).parents[2] / "references" / "guides" / "settings.md"
ADVISE = "gitguard config advise openclaw --pattern tool-heavy"


class Place:
    """A repository with a session, and a host on PATH."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "repo", folder / "home"
        self.reach = folder / "reach"
        self.reach.mkdir()
        make_repository(self.root, self.home)
        self.host = SettingsHost(folder / "host")
        self.type("gitguard ensure")

    @property
    def env(self) -> dict[str, str]:
        usual = environment(self.home)
        path = f"{self.host.bin}:{usual['PATH']}"
        return {**usual, "PATH": path, "TMPDIR": str(self.reach)}

    def type(self, command: str, root: Path | None = None) -> subprocess.CompletedProcess[str]:
        if words := simple_command(command):
            return run(words, root or self.root, self.env)
        return subprocess.run(
            ["bash", "-c", command],
            cwd=root or self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def json(self, command: str) -> dict[str, Any]:
        found = json.loads(self.type(f"{command} --json").stdout)
        assert isinstance(found, dict)
        return found

    def answer(self, command: str, said: bytes) -> str:
        """Run a command on a terminal and answer its question."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.root)
            os.execvpe("bash", ["bash", "-c", command], self.env)
        seen = b""
        while b"[y/N]" not in seen:
            seen += os.read(terminal, 4096)
        os.write(terminal, said)
        try:
            while part := os.read(terminal, 4096):
                seen += part
        except OSError:  # the terminal's other end is gone
            pass
        os.waitpid(pid, 0)
        os.close(terminal)
        return seen.decode()

    def on_terminal(self, command: str) -> tuple[int, str]:
        """Run a command on a terminal that nobody answers; return its code and output."""
        mine, theirs = pty.openpty()
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.root,
            env=self.env,
            stdin=theirs,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        os.close(mine)
        os.close(theirs)
        return done.returncode, done.stdout


tmp_path, place = staged_object("place", Place)


def test_each_change_is_spelled_out_with_what_it_does_and_what_follows(place: Place) -> None:
    said = place.type(ADVISE).stdout
    for expected in (
        "OpenClaw 2026.3.13. Work: tool-heavy (named). Window: 200,000 tokens (from the host).",
        f"To change in `{place.host.config}`:",
        "`agents.defaults.compaction.reserveTokensFloor`, 20000 (default) → 60000",
        "at about 70% of the window",
        '`agents.defaults.contextPruning.ttl`, "5m" (default) → "1m"',
        "`openclaw gateway restart`",
        "it drops comments",
        "Apply it: `gitguard config advise openclaw --pattern tool-heavy --apply`",
    ):
        assert expected in said


def test_the_command_that_applies_it_can_be_typed(place: Place) -> None:
    said = place.type(f"{ADVISE} --protect 'my $tool'").stdout
    assert "--pattern tool-heavy --protect 'my $tool' --apply`" in said


def test_advice_on_a_file_that_includes_others_says_why_it_is_not_applied(place: Place) -> None:
    place.host.write({"agents": {"defaults": {}, "$include": "./agents.json5"}})
    said = place.type(ADVISE).stdout
    assert "gitguard does not apply it: `" in said
    assert "Apply it:" not in said
    assert "$include" in place.json(ADVISE)["not_applicable"]
    assert place.type(f"{ADVISE} --apply --yes").returncode == 24


def test_what_is_right_comes_first(place: Place) -> None:
    document = place.host.document()
    document["agents"]["defaults"] = {"contextPruning": {"mode": "cache-ttl", "ttl": "1m"}}
    place.host.write(document)
    said = place.type(ADVISE).stdout
    right, _, rest = said.partition("To change")
    assert 'contextPruning.ttl` is "1m"' in right
    assert "contextPruning.ttl" not in rest


def test_without_a_terminal_nothing_is_applied_without_yes(place: Place) -> None:
    before = place.host.config.read_bytes()
    done = place.type(f"{ADVISE} --apply")
    assert done.returncode == 39
    assert "Use --yes" in done.stderr
    assert place.host.config.read_bytes() == before
    assert os.listdir(place.reach) == []


def test_on_a_terminal_it_asks_and_a_no_is_remembered(place: Place) -> None:
    before = place.host.config.read_bytes()
    said = place.answer(f"{ADVISE} --apply", b"n\n")
    assert str(place.reach) in said.replace("\r\n", "")
    assert "nothing was changed" in said
    assert place.host.config.read_bytes() == before
    assert "advice declined" in place.type("gitguard profile --history").stdout
    said = place.answer(f"{ADVISE} --apply", b"y\n")
    assert "and read back" in said
    assert place.host.config.read_bytes() != before


def test_the_end_of_input_is_a_no(place: Place) -> None:
    before = place.host.config.read_bytes()
    said = place.answer(f"{ADVISE} --apply; echo exit code $?", b"\x04")
    assert "nothing was changed" in said
    assert "exit code 39" in said
    assert place.host.config.read_bytes() == before
    assert "advice declined" in place.type("gitguard profile --history").stdout


def interrupt(place: Place, when: Callable[[], bool]) -> str:
    """Apply the advice, interrupt that at a time, and return what is said of it."""
    with subprocess.Popen(
        [*ADVISE.split(), "--apply", "--yes"],
        cwd=place.root,
        env=place.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        wait_until(when, 60)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    return said


def test_an_interrupt_while_settings_are_made_says_that_they_are_as_before(place: Place) -> None:
    before = place.host.config.read_bytes()
    place.type(ADVISE)
    place.host.tell(hanging=["agents.defaults.contextPruning.ttl"])
    said = interrupt(place, lambda: len(place.host.writes()) == 3)
    assert "hint: The settings are as they were before" in said
    assert "is kept in `" in said
    assert place.host.config.read_bytes() == before


def test_an_interrupt_after_settings_were_made_says_that_they_are_changed(place: Place) -> None:
    before = place.host.config.read_bytes()
    record = ChangesFile(str(place.home / ".local/state/gitguard"))

    def is_made() -> bool:
        # An interrupt while it is still being written down takes the change back.
        settled = time.time() - 0.5
        done = any(one.is_finished for one in record.read())
        return done and os.stat(record.path).st_mtime < settled

    [folder] = {path.parent for path in Path(record.path).parent.glob("*/_repository.json")}
    with Lock(f"{advice_log.path_in(str(folder))}.lock", timeout=0, clock=time.time):
        said = interrupt(place, is_made)
    assert "hint: The settings were already changed" in said
    assert "`gitguard config rollback openclaw`" in said
    assert place.type("gitguard config rollback openclaw --yes").returncode == 0
    assert place.host.config.read_bytes() == before


def test_advice_beside_a_change_that_was_cut_off_says_what_comes_first(place: Place) -> None:
    record = ChangesFile(str(place.home / ".local/state/gitguard"))
    place.type(f"{ADVISE} --apply --yes")
    (made,) = record.read()
    record.put(made.replace(after=""))
    said = place.type("gitguard config advise openclaw --pattern conversational").stdout
    assert "Warning: a change of" in said
    assert "Roll the interrupted change back first; then this can be applied." in said
    assert "Apply it:" not in said


def test_a_file_that_is_not_there_is_said_to_be_made_and_removed_again(place: Place) -> None:
    place.host.config.unlink()
    for options in ("", " --apply", " --apply --yes"):
        said = place.type(f"{ADVISE}{options}").stdout
        assert "does not exist yet; --apply creates it, and a rollback removes it" in said
        assert "backup" not in said.lower()
    assert place.host.config.exists()
    undone = place.type("gitguard config rollback --yes").stdout
    assert "is removed; it did not exist before" in undone
    assert not place.host.config.exists()


def test_applied_and_rolled_back_as_programs_see_it(place: Place) -> None:
    before = place.host.config.read_bytes()
    done = place.json(f"{ADVISE} --apply --yes")
    assert done["applied"]
    assert Path(done["backup"]).read_bytes() == before
    assert Path(done["rollback_document"]).parent == place.reach
    shown = place.json("gitguard config rollback --dry-run")
    assert (shown["host"], shown["finished"], shown["changed_since"]) == ("openclaw", True, False)
    assert not shown["rolled_back"]
    assert place.host.config.read_bytes() != before
    made = place.host.config.read_bytes()
    back = place.json("gitguard config rollback --yes")
    assert back["rolled_back"]
    assert Path(back["kept"]).read_bytes() == made
    assert place.host.config.read_bytes() == before


def test_where_there_is_nothing_to_apply_programs_see_that_nothing_was(place: Place) -> None:
    assert not place.json(ADVISE)["applied"]
    assert place.json(f"{ADVISE} --apply --yes")["applied"]
    again = place.json(f"{ADVISE} --apply --yes")
    assert (again["applied"], again["changes"]) == (False, [])


def test_what_was_rolled_back_is_not_advised_again_unless_it_is_asked_for(place: Place) -> None:
    before = place.host.config.read_bytes()
    assert "Not repeated for" not in place.type(ADVISE).stdout
    place.json(f"{ADVISE} --apply --yes")
    place.json("gitguard config rollback --yes")
    said = place.type(f"{ADVISE} --apply --yes").stdout
    assert "Not repeated for this kind of work, except with --again:" in said
    assert '`agents.defaults.contextPruning.ttl`, "5m" (default) → "1m", which was rolled' in said
    assert "Nothing else to change." in said
    assert "Apply it" not in said
    assert place.host.config.read_bytes() == before
    told = place.json(ADVISE)
    assert told["changes"] == []
    assert len(told["not_again"]) == 5
    said = place.type(f"{ADVISE} --again").stdout
    assert "To change in" in said
    assert (
        "Apply it: `gitguard config advise openclaw --pattern tool-heavy --again --apply`" in said
    )
    assert place.json(f"{ADVISE} --again --apply --yes")["applied"]
    assert place.host.config.read_bytes() != before


def test_a_change_by_somebody_is_shown_without_secrets_and_left_alone(place: Place) -> None:
    place.type(f"{ADVISE} --apply --yes")
    document = place.host.document()
    document["models"]["other"] = SECRET
    place.host.write(document)
    theirs = place.host.config.read_bytes()
    done = place.type("gitguard config rollback openclaw --yes")
    assert done.returncode == 43
    assert '"other"' in done.stdout
    assert SECRET not in done.stdout + done.stderr
    assert "--even-if-changed" in done.stderr
    assert place.host.config.read_bytes() == theirs
    seen = place.type("gitguard config rollback openclaw --yes --json")
    assert SECRET not in seen.stdout
    assert json.loads(seen.stdout)["error"]["kind"] == "SettingsMoved"
    kept = place.json("gitguard config rollback --even-if-changed --yes")["kept"]
    assert Path(kept).read_bytes() == theirs


def test_differences_are_shown_without_what_the_user_calls_a_secret(place: Place) -> None:
    folder = place.home / ".config/gitguard"
    folder.mkdir(parents=True)
    rule = "{name: ticket, pattern: 'TICKET-[A-Z]{12}'}"
    (folder / "config.yaml").write_text(f"redaction: {{rules: [{rule}]}}\n")
    place.type(f"{ADVISE} --apply --yes")
    place.host.write({**place.host.document(), "other": "TICKET-ABCDEFGHIJKL"})
    options = ("--yes", "--yes --json", "--dry-run", "--dry-run --json")
    seen = [place.type(f"gitguard config rollback openclaw {each}").stdout for each in options]
    assert all("[REDACTED:ticket]" in each for each in seen)
    assert not any("ABCDEFGHIJKL" in each for each in seen)


def test_with_json_nobody_is_asked_and_the_plan_is_in_the_document(place: Place) -> None:
    before = place.host.config.read_bytes()
    code, said = place.on_terminal(f"{ADVISE} --apply --json")
    document = json.loads(said)
    assert (code, document["error"]["kind"]) == (39, "NotConfirmed")
    assert (document["applied"], len(document["changes"])) == (False, 5)
    assert document["rollback_document"].startswith(str(place.reach))
    assert place.host.config.read_bytes() == before
    place.type(f"{ADVISE} --apply --yes")
    code, said = place.on_terminal("gitguard config rollback --json")
    assert (code, json.loads(said)["error"]["kind"]) == (39, "NotConfirmed")
    assert not json.loads(said)["rolled_back"]
    assert '"ttl"' in json.loads(said)["difference"]
    assert place.host.config.read_bytes() != before


def test_a_change_is_forgotten_only_with_consent(place: Place) -> None:
    backup = Path(place.json(f"{ADVISE} --apply --yes")["backup"])
    left = place.host.config.read_bytes()
    backup.unlink()
    forgetting = "gitguard config rollback openclaw --forget"
    for options in ("", " --json", " --dry-run"):
        assert str(place.host.config) in place.type(forgetting + options).stdout
    assert place.type("gitguard config rollback openclaw --yes").returncode == 24
    assert not place.json(f"{forgetting} --dry-run")["forgotten"]
    assert place.json(f"{forgetting} --yes")["forgotten"]
    assert place.host.config.read_bytes() == left
    assert place.type("gitguard config rollback openclaw --yes").returncode == 23


def test_a_host_that_fails_says_so_and_all_is_as_before(place: Place) -> None:
    before = place.host.config.read_bytes()
    place.host.tell(failing=["agents.defaults.contextPruning.mode"])
    done = place.type(f"{ADVISE} --apply --yes")
    assert done.returncode == 1
    assert "disk full" in done.stderr
    assert "as they were before" in done.stderr
    assert place.host.config.read_bytes() == before


def test_outside_of_a_repository_advice_is_given_too(place: Place) -> None:
    before = place.host.config.read_bytes()
    elsewhere = "GITGUARD_STATE_DIR=$HOME/elsewhere"
    for command in (f"{ADVISE} --apply --yes", "gitguard config rollback --yes"):
        done = place.type(f"{elsewhere} {command}", root=place.home)
        assert done.returncode == 0, done.stderr
    assert place.host.config.read_bytes() == before


def test_a_pattern_that_nothing_tells_is_assumed_and_said(place: Place) -> None:
    said = place.type("gitguard config advise openclaw").stdout
    assert "Work: mixed (assumed; name it with --pattern" in said


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("emacs", 2),
        ("openclaw --pattern calm", 2),
        ("openclaw --window 0", 2),
        ("openclaw --window 200", 2),
        ("openclaw --yes", 2),
        (f"openclaw --window 1{'0' * 400}", 2),
        ("openclaw --hours -1", 23),
        ("openclaw --hours nan", 23),
        ("openclaw --hours inf", 23),
        ("codex", 23),
    ],
)
def test_what_cannot_be_advised_on_is_refused(place: Place, options: str, code: int) -> None:
    done = place.type(f"gitguard config advise {options}")
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stderr.startswith("error: ")


def test_the_page_tells_what_happens(place: Place) -> None:
    blocks = console_blocks(PAGE)
    assert blocks
    for command, promised in blocks:
        done = place.type(f"({command}) 2>&1")
        assert is_as_promised(promised, done.stdout), (command, done.stdout)


def write_tool_heavy(path: Path, model: str) -> None:
    """Write a conversation of Claude Code in which tools say nearly all."""
    parts: list[written.Part] = [written.user("Port the parser")]
    for number in range(12):
        call = f"call_{number}"
        parts += [written.agent("", call), written.Result(call, "said " * 1_000)]
    documents = written.claude_code([*parts, written.agent("It is ported.")])
    for number, document in enumerate(documents):
        if document["type"] == "assistant":
            usage = {"input_tokens": 20_000 + number * 1_500}
            document["message"] |= {"model": model, "usage": usage}
    written.write(path, documents)


def test_the_newest_conversation_tells_pattern_window_and_runway(place: Place) -> None:
    write_tool_heavy(place.root / "chat.jsonl", "claude-haiku-4-5")
    place.type("gitguard transcript import chat.jsonl")
    program = place.host.bin / "claude"
    program.write_text("#!/bin/sh\necho 2.1.330\n")
    program.chmod(0o755)
    advice = place.json("gitguard config advise claude-code")
    assert advice["pattern"] == "tool-heavy"
    assert any("% of the conversation is tool calls" in each for each in advice["evidence"])
    assert (advice["window"], advice["window_source"]) == (200_000, "conversation")
    assert advice["changes"][0]["after"] == '"173000"'
    low, high = advice["runway"]
    assert 0 < low <= high
    said = place.type("gitguard config advise claude-code").stdout
    assert "Runway now: about " in said
    assert "(from the newest conversation)" in said


def test_a_conversation_of_another_host_tells_the_pattern_and_no_window(place: Place) -> None:
    write_tool_heavy(place.root / "chat.jsonl", "claude-haiku-4-5")
    place.type("gitguard transcript import chat.jsonl")
    advice = place.json("gitguard config advise openclaw")
    assert (advice["pattern"], advice["window_source"]) == ("tool-heavy", "host")
    assert advice["runway"] is None


def test_a_host_that_fails_is_told_by_its_words_and_is_not_said_to_have_nothing_set(
    place: Place,
) -> None:
    place.host.tell(get_fails="EACCES: permission denied, open 'openclaw.json'")
    done = place.type(ADVISE)
    assert done.returncode == 1
    assert "EACCES: permission denied" in done.stderr
    assert "not set" not in done.stdout + done.stderr


def test_on_a_terminal_it_is_shown_what_a_host_is_asked(place: Place) -> None:
    shown = place.answer(f"{ADVISE} --apply", b"n\n")
    assert "asking `openclaw config get agents --json`" in shown
    assert "asking" not in place.type(ADVISE).stderr
