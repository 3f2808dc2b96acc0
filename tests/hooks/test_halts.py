"""A halt is out of the agent's reach: nothing that it can write in the repository lifts it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitguard.cli import hook
from gitguard.guard import Guard
from gitguard.hooks.answering import first_refusal
from gitguard.hooks.shell_commands import own_command, owner_command
from gitguard.hosts.claude_code import hooks
from gitguard.model import events
from gitguard.model.codec import dump_json
from gitguard.model.events import Abilities, HookEvent, HookReply, Reading, ToolCall
from gitguard.store.session.conversations import (
    THIS_SESSION,
    all_holds,
    holds_folder,
    host_hold_path,
    sweep_holds,
)
from gitguard.store.session.current import current_session
from gitguard.store.session.host_session import Halt, Hold
from gitguard.store.session.workspace import Session
from tests.support.conversation import PAYLOADS, Conversation
from tests.support.hook_replies import HALTED, denies, stops
from tests.support.staged import staged_object

OWNERS = (
    "gitguard repair --trust --yes",
    "gitguard override --reason please",
    "gitguard repair --accept --yes",
    "gitguard repair --take-theirs",
)


tmp_path, talk = staged_object("talk", Conversation)


class Process:
    """A hook as its host starts it: by the command, and with nothing open yet."""

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        folder = talk.root.parent
        os.environ["GITGUARD_STATE_DIR"] = str(folder / "state")
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        os.environ["CLAUDE_PROJECT_DIR"] = str(talk.root)
        os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def send(self, payload: str, **changes: Any) -> dict[str, Any]:
        document = json.loads((PAYLOADS / f"{payload}.json").read_text(encoding="utf-8"))
        document |= {
            "session_id": self.talk.session,
            "cwd": str(self.talk.root),
            "transcript_path": str(self.talk.transcript),
            **changes,
        }
        try:
            answer = hook.answer([hooks.NAME], json.dumps(document).encode())
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)  # this process goes on, as a hook never does
        return dict(json.loads(answer.text)) if answer and answer.text else {}

    def bash(self, command: str) -> dict[str, Any]:
        return self.send("PreToolUse.Bash", tool_input={"command": command})


@pytest.fixture
def halted(talk: Conversation) -> Process:
    """A conversation that was halted, in a repository with all that gitguard ever writes."""
    talk.prompt("Begin")
    talk.guard.note({"goal": "Ship it", "next_action": "Write it"})
    talk.uses(172_000)
    assert denies(talk.bash("echo hi"))
    return Process(talk)


# What an agent can do to the repository


def emptied(path: Path) -> None:
    path.chmod(0o600)
    path.write_bytes(b"")


def mutated(path: Path) -> None:
    path.chmod(0o600)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"halt", b"hall") if b"halt" in data else b"{}" + data[:-1])


def removed(path: Path) -> None:
    path.unlink()


def linked(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/null")


EDITS: tuple[Callable[[Path], None], ...] = (emptied, mutated, removed, linked)


def files_below(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())


def folders_below(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_dir() and not path.is_symlink())


def assert_still_halted(process: Process) -> None:
    answer = process.bash("echo hi")
    assert denies(answer)
    assert HALTED in answer["hookSpecificOutput"]["permissionDecisionReason"]


def kept(root: Path, copy: Path) -> None:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy, symlinks=True)


def put_back(root: Path, copy: Path) -> None:
    shutil.rmtree(root)
    shutil.copytree(copy, root, symlinks=True)


@pytest.mark.parametrize("edit", EDITS)
def test_no_file_of_the_repository_lifts_a_halt(
    halted: Process, tmp_path: Path, edit: Callable[[Path], None]
) -> None:
    root, copy = halted.talk.root, tmp_path / "copy"
    kept(root, copy)
    paths = files_below(root)
    assert {"session.json", "current", "HEAD", "config"} <= {path.name for path in paths}
    for path in paths:
        content = path.read_bytes()
        edit(path)
        assert_still_halted(halted)
        path.unlink(missing_ok=True)
        path.write_bytes(content)
    put_back(root, copy)
    for path in paths:
        edit(path)
    assert_still_halted(halted)
    for command in (*OWNERS, "git push --force"):
        assert denies(halted.bash(command)), command


@pytest.mark.parametrize("by_link", [False, True])
def test_no_folder_of_the_repository_lifts_a_halt(
    halted: Process, tmp_path: Path, by_link: bool
) -> None:
    root, copy, elsewhere = halted.talk.root, tmp_path / "copy", tmp_path / "elsewhere"
    elsewhere.mkdir()
    kept(root, copy)
    for folder in (path.relative_to(root) for path in folders_below(root)):
        if "objects" in folder.parts and len(folder.parts) > 2:
            continue
        shutil.rmtree(root / folder)
        if by_link:
            (root / folder).symlink_to(elsewhere)
        assert_still_halted(halted)
        for command in (*OWNERS, "git push --force"):
            assert denies(halted.bash(command)), (folder, command)
        put_back(root, copy)


@pytest.mark.parametrize("content", ["other\n", "../..\n", "\0", "x" * 9000])
def test_no_other_current_session_lifts_a_halt(halted: Process, content: str) -> None:
    (halted.talk.root / ".gitguard" / "current").write_text(content)
    assert_still_halted(halted)


def test_a_branch_a_session_and_a_moved_repository_leave_a_halt(halted: Process) -> None:
    talk = halted.talk
    talk.git("switch", "--quiet", "--create", "feature")
    assert_still_halted(halted)
    talk.guard.sessions.use(Session.of("other"))
    assert_still_halted(halted)
    moved = talk.root.with_name("moved")
    talk.root.rename(moved)
    talk.root = moved
    os.environ["CLAUDE_PROJECT_DIR"] = str(moved)
    assert_still_halted(halted)


def test_a_halt_holds_where_the_agent_goes_to_another_repository(
    halted: Process, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "init", "--quiet", str(other)], check=True)
    os.environ["CLAUDE_PROJECT_DIR"] = str(other)
    assert_still_halted(halted)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"format": 99}', b"{" * 9])
def test_a_damaged_record_of_a_conversation_halts_it(talk: Conversation, content: bytes) -> None:
    talk.prompt("Begin")
    assert talk.bash("echo hi") == {}
    path = Path(host_hold_path(str(talk.root.parent / "state"), hooks.NAME, "S1"))
    path.parent.mkdir()
    path.write_bytes(content)
    assert denies(talk.bash("echo hi"))
    talk.send("PreCompact")
    talk.compacts(20_000)
    talk.send("SessionStart.compact")
    assert talk.bash("echo hi") == {}, "it ends as any halt does"


def test_where_the_state_directory_is_out_of_reach_the_sealed_record_decides(
    halted: Process,
) -> None:
    state = halted.talk.root.parent / "state"
    state.rename(state.with_name("hidden"))
    state.write_bytes(b"")
    assert stops(halted.bash("echo hi")), "what cannot be counted ends the turn at once"


def test_a_halt_that_only_the_repository_records_keeps_counting(halted: Process) -> None:
    state = halted.talk.root.parent / "state"
    shutil.rmtree(holds_folder(str(state)))
    assert denies(halted.bash("echo hi"))
    (halted.talk.root / ".gitguard" / "sessions" / "main" / "session.json").unlink()
    shutil.rmtree(holds_folder(str(state)))
    assert denies(halted.bash("echo hi"))
    assert all_holds(str(state)), "and is out of reach from then on"


def test_an_override_that_is_over_comes_back_with_no_older_file(talk: Conversation) -> None:
    talk.prompt("Begin")
    talk.uses(172_000)
    assert denies(talk.bash("echo hi"))
    talk.guard.override("S1", "nearly done")
    record = talk.root / ".gitguard" / "sessions" / "main" / "session.json"
    overridden = record.read_bytes()
    talk.send("PreCompact")
    talk.compacts(20_000)
    talk.send("SessionStart.compact")
    record.write_bytes(overridden)
    talk.uses(174_000)
    assert denies(talk.bash("echo hi"))


def test_a_human_lifts_a_halt_whose_record_in_the_repository_is_gone(halted: Process) -> None:
    talk = halted.talk
    (talk.root / ".gitguard" / "current").write_text("other\n")
    talk.guard.ensure()
    assert "S1" in talk.guard.status().host_sessions
    talk.guard.override("S1", "I looked at it")
    assert halted.bash("echo hi") == {}


def test_the_record_of_a_halt_goes_when_the_halt_ends(halted: Process) -> None:
    talk, state = halted.talk, str(halted.talk.root.parent / "state")
    assert [hold.conversation for hold in all_holds(state)] == ["S1"]
    talk.send("PreCompact")
    talk.compacts(20_000)
    talk.send("SessionStart.compact")
    assert all_holds(state) == []


def test_old_records_of_conversations_are_swept_and_no_living_halt(tmp_path: Path) -> None:
    state, now, day = str(tmp_path), 1_900_000_000.0, 86_400
    stop = Halt("2026-01-31T09:30:00Z", 0.9, "full")

    def keep(name: str, days: float, **held: Any) -> Path:
        path = host_hold_path(state, "host", name)
        hold = Hold("host", name, **held)
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(dump_json({"format": 1, **hold.to_document()}))
        os.utime(path, (now - days * day,) * 2)
        return Path(path)

    alive, dead = keep("alive", 89, halt=stop), keep("dead", 91, halt=stop)
    older, newer = keep("older", 2, override=stop), keep("newer", 0, override=stop)
    for number in range(498):
        keep(f"halted {number}", 50, halt=stop)
    sweep_holds(holds_folder(state), now)
    assert (alive.exists(), dead.exists()) == (True, False)
    assert (older.exists(), newer.exists()) == (False, True)


def test_a_halted_prompt_is_told_of_the_halt_though_the_repository_does_not_read(
    halted: Process,
) -> None:
    shutil.rmtree(halted.talk.root / ".git")
    said = halted.send("UserPromptSubmit", prompt="What did you find?")
    assert HALTED in said["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("command", OWNERS)
def test_owner_commands_are_refused_whatever_the_repository_holds(
    talk: Conversation, command: str
) -> None:
    process = Process(talk)
    shutil.rmtree(talk.root / ".gitguard")
    (talk.root / ".gitguard").symlink_to("/nowhere")
    assert denies(process.bash(command))


OWNED = (
    "override --reason please",
    "publish --yes",
    "repair",
    "repair -y",
    "repair --trust --yes",
    "repair --accept --dry-run",
    "repair --local --take-theirs",
    "repair --fork=x --local",
    "repair --dry-run # --archive-theirs",
    "sync --yes",
    "sync --trust=0123456789abcdef",
    "trust",
    "trust add SHA256:abc",
    "trust remove SHA256:abc",
)


@pytest.mark.parametrize("owned", OWNED)
@pytest.mark.parametrize(
    "spelling",
    [
        "gitguard 2>&1 {}",
        "gitguard </dev/null {}",
        "gitguard <<<y {}",
        "yes | gitguard {}",
        "echo 1 | gitguard {} 2>&1 | tail -5",
        "gitguard --root '' {}",
        "gitguard --root '/a b/c' --session main {}",
        "gitguard --root repair {}",
        'gitguard --session "x y" {}',
        'git"guard" {}',
        "gitguard {first}''{tail}",
        "gitguard {first}\\{tail}",
        "gitgu\\\nard {}",
        "gitguard $'{word}'{after}",
        "$(command -v gitguard) {}",
        '"$(which gitguard)" {}',
        "env -C /srv/gitguard gitguard {}",
        "env -u CLAUDE_CODE_SESSION_ID gitguard {}",
        "sudo -u gitguard gitguard {}",
        "python3 -m gitguard {}",
        "nohup ./.venv/bin/gitguard {} &",
        "sh -c 'gitguard {}'",
        'bash -lc "yes | gitguard {}"',
        "echo 'gitguard {}' | sh",
        "sh <<END\nit's\ngitguard {}\nEND",
        "gitguard {} <<END\n1\ny\nEND",
        "gitguard repair --dry-run; gitguard {}",
        "echo '{}' | xargs gitguard",
        "echo '{}' | xargs -I% /usr/bin/gitguard --root . %",
        "echo '{}' | /usr/bin/xargs -I status gitguard status",
        "parallel gitguard ::: '{}'",
        "g=gitguard; env -u CLAUDE_CODE_SESSION_ID $g {}",
        "g='gitguard --root .'; $g {}",
        "alias x='/opt/bin/gitguard'; x {}",
        "c='{}'; gitguard $c",
        "gitguard $(echo '{}')",
        "gitguard `echo {}`",
        'set -- {}; gitguard "$@"',
        'f() {{ gitguard "$@"; }}; f {}',
        "sh -c 'gitguard \"$@\"' sh {}",
        "env -C /srv/gitguard sh -c 'gitguard {}'",
        'c=(gitguard {}); eval "${{c[*]}}"',
        "eval 'x=1 g=gitguard'; $g {}",
        "case x in x) gitguard {} ;; esac",
        'echo "${{x:-it\'s}}"; gitguard {}',
        "ssh host 'gitguard {}'",
        "c='{}'; find . -exec gitguard $c \\;",
        "c='{}'; `:` gitguard $c",
        "c='{}'; find . -exec sh -c 'gitguard $c' \\;",
        "echo `sh -c \\`gitguard {}\\``",
        "ls 'never closed; gitguard {}",
        "python3 -mgitguard {}",
    ],
)
def test_owner_commands_are_refused_however_they_are_spelled(spelling: str, owned: str) -> None:
    word, _, options = owned.partition(" ")
    after = f" {options}" * bool(options)
    parts = {"word": word, "after": after, "first": owned[:1], "tail": owned[1:]}
    assert owner_command(spelling.format(owned, **parts))


@pytest.mark.parametrize(
    "spelling",
    [
        "gitguard repair --local",
        "gitguard repair --local --yes --json",
        "gitguard --session x repair --dry-run",
        "cd /srv/gitguard && gitguard repair --local && gitguard status",
        "gitguard repair --dry-run 2>&1 | head -20",
        "gitguard repair --dry-run > /tmp/problems 2>&1",
        "git diff --name-only | xargs gitguard note --artifact",
        "git diff --name-only | xargs -I% gitguard note --artifact %",
    ],
)
def test_an_agent_may_look_and_take_our_own_copy_back(spelling: str) -> None:
    assert owner_command(spelling) == ""


def test_the_denial_of_a_halted_call_is_decided_before_the_call_is_read(halted: Process) -> None:
    tool = ToolCall("Bash", command="gitguard override --reason x", is_shell=True)
    event = HookEvent(
        events.TOOL_START, halted.talk.session, str(halted.talk.root), host=hooks.NAME, tool=tool
    )
    decided: list[HookReply] = []
    dirs = halted.talk.guard.workspace.places
    reply = first_refusal(
        event, hooks.HOST.abilities, dirs, halted.talk.clock(), decide=decided.append
    )
    assert reply is not None
    assert "for a human" in reply.refuse
    assert [HALTED in denial.refuse for denial in decided] == [True]


@pytest.mark.parametrize(
    "command",
    [
        "gitguard note --learning 'never run gitguard trust'",
        "gitguard note --decision 'we trust it' --why 'gitguard said so'",
        "gitguard status && git commit -m 'gitguard: trust nobody'",
        "cat gitguard/trust.py",
        "echo gitguard $VERSION",
        "pip install gitguard $EXTRA",
        "gitguard --root $(git rev-parse --show-toplevel) status",
        'for f in *.py; do gitguard note --artifact "$f"; done',
        "g=gitguard; $g status",
        "g=gitguard; grep -rn trust $g",
        "gitguard note --done 'it",
        "python3 -m gitguard note --learning 'never run gitguard purge'",
        "cat <<E\nSay `gitguard status` of $x\nE",
    ],
)
def test_who_only_writes_of_owner_commands_is_not_refused(command: str) -> None:
    assert owner_command(command) == ""


@pytest.mark.parametrize(
    "broken", ["sessions/main/session.json", "sessions/main", "current", "sessions", ""]
)
def test_who_breaks_our_files_before_a_halt_escapes_no_halt(
    talk: Conversation, broken: str
) -> None:
    process = Process(talk)
    talk.prompt("Begin")
    talk.uses(100_000)
    path = talk.root / ".gitguard" / broken
    if path.is_dir():
        shutil.rmtree(path)
        path.symlink_to("/nowhere")
    else:
        path.write_bytes(b"../x")
    before = process.bash("echo hi")
    assert ("STATUS:MISSING_STATE" in str(before)) is path.is_symlink()
    talk.uses(172_000)
    assert_still_halted(process)
    assert process.bash("gitguard note --learning 'It is the cache'") == {}
    talk.uses(100_000)
    assert process.bash("echo hi") == before, "nothing was recorded: it ends with the pressure"


@pytest.mark.parametrize("broken", ["session.json", "state.json"])
def test_the_gate_answers_a_halted_conversation_whatever_the_repository_holds(
    halted: Process, broken: str
) -> None:
    ask = Shell(halted.talk.guard)
    assert ask("gate", "--host-session", "S1", "--pressure", "0.1") == 11
    folder = halted.talk.root / ".gitguard"
    (folder / "sessions" / "main" / broken).write_bytes(b"")
    assert ask("gate", "--host-session", "S1", "--pressure", "0.1") == 11
    shutil.rmtree(folder)
    folder.symlink_to("/nowhere")
    assert ask("gate", "--host-session", "S1", "--pressure", "0.1") == 11
    assert ask("gate", "--host-session", "S2", "--pressure", "0.1") == 10


@pytest.mark.parametrize("depth", [10, 2_000, 100_000])
def test_no_nesting_hides_a_tool_call_from_its_refusal(halted: Process, depth: int) -> None:
    document = json.loads((PAYLOADS / "PreToolUse.Bash.json").read_text(encoding="utf-8"))
    where = {"cwd": str(halted.talk.root), "session_id": halted.talk.session}
    hidden = '{"a]": "\\"}", "b": [' * depth + "]}" * depth
    text = json.dumps({**document, **where, "tool_input": "HERE"})
    data = text.replace('"HERE"', f'{{"x": {hidden}, "command": "echo hi"}}').encode()
    try:
        answered = hook.answer([hooks.NAME], data)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert answered is not None
    assert denies(json.loads(answered.text))


# The commands that a halted agent may still run


@pytest.mark.parametrize(
    "command",
    [
        "gitguard note --learning 'it; was && the $PATH'",
        'gitguard note --done "said \\"so\\"" --next x',
        "gitguard update --replace notes.json",
        "gitguard --session other checkpoint -m why",
        "gitguard status",
        "gitguard note --done it\\'s",
    ],
)
def test_one_simple_command_that_saves_is_exempt_from_a_halt(halted: Process, command: str) -> None:
    assert halted.talk.bash(command) == {}


@pytest.mark.parametrize(
    "command",
    [
        "gitguard note --done x; rm -rf .",
        "gitguard note --done x && ls",
        "gitguard note --done x | tee y",
        "gitguard note --done x > y",
        "gitguard note --done x &",
        "gitguard note --done $(ls)",
        'gitguard note --done "$(ls)"',
        "gitguard note --done `ls`",
        'gitguard note --done "`ls`"',
        "gitguard note --done x\nls",
        "gitguard note --done 'x",
        "gitguard note --done 'x\\' ; ls '",
        "PATH=/tmp gitguard note --done x",
        "env gitguard note --done x",
        "./gitguard note --done x",
        "/tmp/gitguard note --done x",
        "git guard note --done x",
        "gitguard gate --pressure 0.1",
        "gitguard resume",
        "gitguard",
        "ls",
        "",
    ],
)
def test_anything_else_is_denied_while_halted(halted: Process, command: str) -> None:
    assert denies(halted.talk.bash(command))


def test_only_the_installed_program_is_exempt(tmp_path: Path) -> None:
    ours, other = tmp_path / "ours", tmp_path / "other"
    for folder in (ours, other):
        folder.mkdir()
        (folder / "gitguard").write_text(str(folder))
    program, first, second = str(ours / "gitguard"), f"{ours}:{other}", f"{other}:{ours}"
    assert own_command("gitguard note --done x", program, first) == "note"
    assert own_command("gitguard note --done x", program, second) == ""
    assert own_command("gitguard note --done x", program, "") == ""
    assert own_command(f"{program} note --done x", program, second) == "note"
    assert own_command(f"{other}/gitguard note --done x", program, first) == ""


WORDS = st.text(st.sampled_from("ab \t'\"\\;&|<>(){}$`\n#~*!=-"), max_size=12)


@given(WORDS)
@example("x\\")
@example("'a\\''")
@example('"a\\"b"')
def test_what_counts_as_one_command_runs_nothing_else_in_a_shell(text: str) -> None:
    if own_command(f"gitguard note {text}", "", "") != "note":
        return
    counting = "gitguard() { echo called; }; set -f; PATH=/nowhere"
    shell = subprocess.run(
        ["/bin/sh", "-c", f"{counting}\ngitguard note {text}"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert (shell.stdout, shell.stderr, shell.returncode) == ("called\n", "", 0)


def test_a_tool_that_takes_more_than_a_command_is_never_exempt(halted: Process) -> None:
    for call in (ToolCall("mcp__x__run", command="gitguard status"), ToolCall("Read")):
        event = HookEvent(
            events.TOOL_START, "S1", str(halted.talk.root), host=hooks.NAME, tool=call
        )
        assert halted.talk.guard.handle(event, Abilities()).refuse


# A bare shell


class Shell:
    """A program that no host runs, and that has no terminal: each command is a process group."""

    def __init__(self, guard: Guard) -> None:
        places = guard.workspace.places
        self.root = guard.workspace.place.worktree
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "GITGUARD_STATE_DIR": places.state_home,
        }

    def __call__(self, *arguments: str) -> int:
        done = subprocess.run(
            [sys.executable, "-m", "gitguard", *arguments],
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            check=False,
        )
        return done.returncode


@pytest.fixture
def shell(begun: Guard) -> Shell:
    return Shell(begun)


def test_a_bare_shell_without_a_terminal_stays_halted(shell: Shell, begun: Guard) -> None:
    assert shell("gate", "--pressure", "0.95") == 11
    assert shell("gate", "--pressure", "0.40") == 11
    assert shell("override", "--reason", "I looked at it") == 0
    assert shell("gate", "--pressure", "0.40") == 0
    assert set(begun.status().host_sessions) == {THIS_SESSION}


def test_a_bare_shell_that_never_gives_a_pressure_is_halted_at_its_second_question(
    shell: Shell,
) -> None:
    assert shell("gate") == 0
    assert shell("gate") == 11


def test_a_second_identical_gate_writes_no_second_halt_checkpoint(
    shell: Shell, begun: Guard
) -> None:
    for _ in range(3):
        assert shell("gate", "--pressure", "0.85") == 11
    assert [checkpoint.trigger for checkpoint in begun.log(100)].count("halt") == 1
    begun.note({"learnings": ["It is the cache"]})
    assert shell("gate", "--pressure", "0.85") == 11
    assert [checkpoint.trigger for checkpoint in begun.log(100)].count("halt") == 2


def test_no_file_of_the_repository_lifts_a_bare_shells_halt(shell: Shell, begun: Guard) -> None:
    assert shell("gate", "--pressure", "0.95") == 11
    record = Path(begun.workspace.folder) / "sessions" / "main" / "session.json"
    record.unlink()
    assert shell("gate", "--pressure", "0.40") == 11


def test_a_bare_shells_halt_goes_to_the_session_that_is_used_next_and_back(begun: Guard) -> None:
    reading = Reading("given", begun.clock(), share=0.9)
    calm = reading.replace(share=0.2)
    own, other = current_session(begun.workspace), Session.of("other")
    assert begun.gate(THIS_SESSION, reading).verdict.halts
    begun.sessions.use(other)
    assert begun.gate(THIS_SESSION, calm).verdict.halts
    begun.override(THIS_SESSION, "I looked at it")
    begun.sessions.use(own)
    assert not begun.gate(THIS_SESSION, calm).verdict.halts


def test_it_is_not_guessed_which_of_two_halts_a_human_lifts(shell: Shell, begun: Guard) -> None:
    for key in ("S1", THIS_SESSION):
        begun.gate(key, Reading("given", begun.clock(), share=0.9))
    assert shell("override", "--reason", "I looked at it") == 23


def test_a_purged_value_is_gone_from_the_record_of_an_override(begun: Guard) -> None:
    value = "swordfish-tuna-42"
    begun.gate("S1", Reading("given", begun.clock(), share=0.9))
    begun.override("S1", f"the word is {value}")
    begun.note({"learnings": [value]})
    checkpoint = begun.checkpoint("It is in here").sequence
    folder = Path(holds_folder(begun.workspace.places.state_home))
    assert any(value in path.read_text() for path in folder.iterdir())
    begun.secrets.purge(str(checkpoint), reason="It was pasted", value=value)
    assert not any(value in path.read_text() for path in folder.iterdir())
    assert begun.status().host_sessions["S1"].override is not None


def test_a_halt_that_the_gate_began_is_kept_for_the_hooks_of_its_conversation(
    talk: Conversation,
) -> None:
    process = Process(talk)
    reading = Reading("given", talk.clock(), share=0.95)
    assert talk.guard.gate(talk.session, reading, host=hooks.NAME).verdict.action == "halt"
    (talk.root / ".gitguard" / "current").write_text("another\n")
    assert denies(process.bash("ls"))
