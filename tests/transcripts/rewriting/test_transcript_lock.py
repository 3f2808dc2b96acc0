"""A transcript has one writer at a time: other gitguards, hosts and whoever has it open count."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitguard.cli.signals import ENDING, ending_in_order
from gitguard.errors import InvalidDocument, Locked
from gitguard.store.disk import processes
from gitguard.transcripts.rewriting.locks import HostLock, transcript_lock
from tests.support.other_programs import opened, running

SOON = 0.2
"""Seconds that a test waits where nothing will be let go."""
HOLDER = """
import sys, time
from gitguard.transcripts.rewriting.locks import transcript_lock
with transcript_lock(sys.argv[1], time.time):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def transcript(tmp_path: Path) -> str:
    path = tmp_path / "conversation.jsonl"
    path.write_text("{}\n")
    return str(path)


def dead_pid() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as started:
        started.wait()
    return started.pid


def names_beside(transcript: str) -> list[str]:
    return sorted(os.listdir(os.path.dirname(transcript)))


def leave_host_lock(transcript: str, **claim: object) -> Path:
    path = Path(f"{transcript}.lock")
    path.write_text(json.dumps(claim))
    return path


def test_a_holder_is_named_with_its_process_and_age(transcript: str) -> None:
    with running(HOLDER, transcript) as holder:
        later = time.time() + 100
        with (
            pytest.raises(Locked, match=f"process {holder.pid} for 1[0-9][0-9] s") as refused,
            transcript_lock(transcript, lambda: later, timeout=SOON),
        ):
            pass
    assert refused.value.exit_code == 30
    assert "end that process" in refused.value.hint


def test_a_killed_holder_holds_nothing(transcript: str) -> None:
    with running(HOLDER, transcript) as holder:
        holder.kill()
        holder.wait()
        left = names_beside(transcript)
        with transcript_lock(transcript, time.time, timeout=SOON) as lock:
            lock.check()
    assert "conversation.jsonl.lock" in left
    assert names_beside(transcript) == ["conversation.jsonl"]


def test_a_waiter_gets_the_lock_when_it_is_let_go(transcript: str) -> None:
    with running(HOLDER, transcript) as holder:
        assert holder.stdin is not None
        threading.Timer(SOON, holder.stdin.close).start()
        with transcript_lock(transcript, time.time, timeout=60) as lock:
            lock.check()


def test_holds_of_one_thread_are_counted(transcript: str) -> None:
    with transcript_lock(transcript, time.time) as outer:
        with transcript_lock(transcript, time.time, timeout=0) as inner:
            inner.check()
        outer.check()
        beside = names_beside(transcript)
    assert "conversation.jsonl.gitguard-lock" in beside
    assert names_beside(transcript) == ["conversation.jsonl"]


def test_another_name_of_the_file_is_the_same_hold(transcript: str, tmp_path: Path) -> None:
    os.symlink(transcript, tmp_path / "other.jsonl")
    other = str(tmp_path / "other.jsonl")
    with (
        transcript_lock(transcript, time.time) as outer,
        transcript_lock(other, time.time, timeout=0) as inner,
    ):
        assert inner is outer


def test_another_thread_waits(transcript: str) -> None:
    said: list[str] = []

    def try_it() -> None:
        try:
            with transcript_lock(transcript, time.time, timeout=SOON):
                said.append("held")
        except Locked as refused:
            said.append(refused.message)

    with transcript_lock(transcript, time.time):
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()
    assert f"process {os.getpid()}" in said[0]


def test_a_forked_child_does_not_hold_what_its_parent_does(transcript: str) -> None:
    program = """
import os, sys, time
from gitguard.errors import Locked
from gitguard.transcripts.rewriting.locks import transcript_lock
with transcript_lock(sys.argv[1], time.time) as lock:
    child = os.fork()
    if not child:
        try:
            with transcript_lock(sys.argv[1], time.time, timeout=0.2):
                os._exit(1)
        except Locked:
            os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    lock.check()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, transcript], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("7\n", 0), done.stderr


# A hold that lasts too long


def test_past_its_time_a_holder_writes_nothing_more(transcript: str) -> None:
    now = [1_000.0]
    with transcript_lock(transcript, lambda: now[0], hold=300) as lock:
        now[0] += 300
        lock.check()
        now[0] += 1
        with pytest.raises(Locked, match="held for 301 s, of at most 300 s"):
            lock.check()
        now[0] -= 200  # a clock that is set back does not give it back
        with pytest.raises(Locked):
            lock.check()
    assert names_beside(transcript) == ["conversation.jsonl"]


def test_a_hold_inside_another_ends_with_that_one(transcript: str) -> None:
    now = [1_000.0]
    with transcript_lock(transcript, lambda: now[0], hold=420) as outer:
        now[0] += 400
        with transcript_lock(transcript, lambda: now[0], hold=300) as inner:
            inner.check()
        outer.check()


def test_a_holder_that_hangs_is_let_go_of_at_the_second_look(transcript: str) -> None:
    now = [1_000.0]
    with transcript_lock(transcript, lambda: now[0], hold=300, watch=0.05) as lock:
        now[0] += 301
        with running(HOLDER, transcript):  # somebody else has it now
            with pytest.raises(Locked, match="held for 301 s"):
                lock.check()
            now[0] -= 300
            with pytest.raises(Locked):
                lock.check()
        assert "conversation.jsonl.lock" in names_beside(transcript), "it was not ours to remove"


# Endings


def test_a_lock_that_was_let_go_of_is_not_written_under(transcript: str) -> None:
    with transcript_lock(transcript, time.time) as lock:
        lock.check()
    with pytest.raises(Locked, match="was let go"):
        lock.check()


def test_what_a_dead_writer_left_is_swept_once_it_is_old(transcript: str) -> None:
    left = ("1", "lock.2", "lock.2.tmp.2", "bak-3-1790000000.3", "bak-3-1790000000-1.3")
    old = [Path(f"{transcript}.{name}.tmp") for name in left]
    new = Path(f"{transcript}.4.tmp")
    others = [Path(f"{transcript}{name}.tmp") for name in ("", ".mine", ".5.mine", ".lock.mine")]
    others.append(Path(transcript).with_name("other.jsonl.1.tmp"))
    for path in (*old, new, *others):
        path.touch()
    for path in (*old, *others):
        os.utime(path, (0, 0))
    with transcript_lock(transcript, time.time):
        pass
    assert not any(path.exists() for path in old)
    assert new.exists(), "its writer may be at work"
    assert all(path.exists() for path in others), "they are somebody else's"


def test_an_error_inside_lets_go(transcript: str) -> None:
    with pytest.raises(ZeroDivisionError), transcript_lock(transcript, time.time):
        raise ZeroDivisionError
    assert names_beside(transcript) == ["conversation.jsonl"]


def test_signal_handlers_stay_the_programs_own(transcript: str) -> None:
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGABRT)
    before = [signal.getsignal(number) for number in signals]
    with transcript_lock(transcript, time.time):
        assert [signal.getsignal(number) for number in signals] == before


# The host's own lock


def test_the_hosts_lock_is_taken_and_given_back(transcript: str) -> None:
    path = Path(f"{transcript}.lock")
    with transcript_lock(transcript, lambda: 1_700_000_000.5) as lock:
        claim = json.loads(path.read_text())
        lock.check()
    assert claim["pid"] == os.getpid()
    assert claim["createdAt"] == "2023-11-14T22:13:20.500Z"
    assert claim["starttime"] == processes.start_of(os.getpid())
    assert not path.exists()


def test_the_hosts_lock_is_taken_where_there_are_no_hard_links(
    transcript: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: str, **_folders: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    with transcript_lock(transcript, time.time) as lock:
        lock.check()
        claim = json.loads(Path(f"{transcript}.lock").read_text())
        assert claim["pid"] == os.getpid()
    assert [each.name for each in Path(transcript).parent.iterdir()] == [Path(transcript).name]


@pytest.mark.parametrize("created", ["2023-11-14T22:13:20.000Z", 1_700_000_000_000])
def test_a_living_holder_of_the_hosts_lock_is_waited_for_and_named(
    transcript: str, created: object
) -> None:
    path = leave_host_lock(transcript, pid=os.getppid(), createdAt=created)
    said = path.read_text()
    with (
        pytest.raises(Locked, match=f"process {os.getppid()} for 90 s"),
        transcript_lock(transcript, lambda: 1_700_000_090.0, timeout=SOON),
    ):
        pass
    assert path.read_text() == said
    assert "conversation.jsonl.gitguard-lock" not in names_beside(transcript)


def test_a_dead_holder_of_the_hosts_lock_is_taken_over_from(transcript: str) -> None:
    leave_host_lock(transcript, pid=dead_pid(), createdAt="2023-11-14T22:13:20.000Z")
    with transcript_lock(transcript, time.time, timeout=SOON) as lock:
        lock.check()
    assert names_beside(transcript) == ["conversation.jsonl"]


def test_a_number_that_was_given_again_is_another_process(transcript: str) -> None:
    started = processes.start_of(os.getppid())
    leave_host_lock(
        transcript, pid=os.getppid(), createdAt="2023-11-14T22:13:20.000Z", starttime=started + 1
    )
    with transcript_lock(transcript, time.time, timeout=SOON) as lock:
        lock.check()


@pytest.mark.parametrize("said", ["", "{", "[]", '{"pid": "x"}', '{"pid": -1}', '{"pid": true}'])
def test_a_host_lock_that_names_nobody_is_left_over_after_half_an_hour(
    transcript: str, said: str
) -> None:
    path = Path(f"{transcript}.lock")
    path.write_text(said)
    with (
        pytest.raises(Locked, match="an unnamed process"),
        transcript_lock(transcript, time.time, timeout=SOON),
    ):
        pass
    with transcript_lock(transcript, lambda: time.time() + 1801, timeout=SOON) as lock:
        lock.check()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=5,
)


@given(
    st.binary(max_size=200)
    | st.fixed_dictionaries({"pid": ANYTHING, "createdAt": ANYTHING, "starttime": ANYTHING}).map(
        lambda claim: json.dumps(claim).encode()
    )
)
@example(json.dumps({"pid": 10**30, "createdAt": 10**400}).encode())
@example(b"[" * 50_000)
def test_whatever_a_host_lock_says_it_is_waited_for_or_taken(said: bytes) -> None:
    with TemporaryDirectory() as folder:
        lock = HostLock(f"{folder}/conversation.jsonl", time.time)
        Path(lock.path).write_bytes(said)
        assert "process" in lock.holder()
        assert lock.try_to_take() == lock.is_ours
        lock.give_back()


def test_a_host_lock_that_is_taken_away_stops_the_holder(transcript: str) -> None:
    with transcript_lock(transcript, time.time) as lock:
        theirs = leave_host_lock(transcript, pid=os.getppid(), createdAt="")
        with pytest.raises(Locked, match=f"taken away by process {os.getppid()}"):
            lock.check()
    assert theirs.exists()


def test_a_folder_in_the_host_locks_place_is_said(transcript: str) -> None:
    os.mkdir(f"{transcript}.lock")
    with pytest.raises(InvalidDocument), transcript_lock(transcript, time.time, timeout=SOON):
        pass
    assert "conversation.jsonl.gitguard-lock" not in names_beside(transcript)


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    missing = str(tmp_path / "no" / "x.jsonl")
    with pytest.raises(InvalidDocument, match="no such file"), transcript_lock(missing, time.time):
        pass
    assert not os.path.exists(tmp_path / "no")


# Those who have it open


@pytest.mark.parametrize("mode", ["a", "r+"])
def test_a_transcript_that_somebody_writes_is_left_alone(transcript: str, mode: str) -> None:
    with (
        opened(transcript, mode) as writer,
        pytest.raises(Locked, match=f"open for writing in process {writer} "),
        transcript_lock(transcript, time.time),
    ):
        pass
    assert names_beside(transcript) == ["conversation.jsonl"]


def test_readers_do_not_matter(transcript: str) -> None:
    with opened(transcript, "r"), transcript_lock(transcript, time.time) as lock:
        lock.check()


# Signals, in the command line


SIGNALLED = """
import signal, sys, time
from gitguard.cli.signals import ending_in_order
from gitguard.transcripts.rewriting.locks import transcript_lock
if sys.argv[2] == "handled":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(5))
elif sys.argv[2] == "ignored":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with ending_in_order():
    with transcript_lock(sys.argv[1], time.time) as lock:
        print("held", flush=True)
        sys.stdin.readline()
        lock.check()
        print("checked", flush=True)
"""
ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGABRT"]


@pytest.mark.parametrize("name", ENDINGS)
def test_a_signal_ends_the_command_and_its_hold(transcript: str, name: str) -> None:
    number = getattr(signal, name)
    with running(SIGNALLED, transcript, "") as holder:
        assert "conversation.jsonl.lock" in names_beside(transcript)
        holder.send_signal(number)
        assert holder.wait() == -number
    assert names_beside(transcript) == ["conversation.jsonl"]


def test_what_was_done_at_a_signal_before_is_done_after(transcript: str) -> None:
    with running(SIGNALLED, transcript, "handled") as holder:
        holder.send_signal(signal.SIGTERM)
        assert holder.wait() == 5
    assert names_beside(transcript) == ["conversation.jsonl"]


def test_a_signal_that_was_ignored_stays_ignored(transcript: str) -> None:
    with running(SIGNALLED, transcript, "ignored") as holder:
        holder.send_signal(signal.SIGTERM)
        said, _ = holder.communicate(b"\n")
    assert (said, holder.returncode) == (b"checked\n", 0)


def test_the_handlers_are_given_back() -> None:
    before = [signal.getsignal(number) for number in ENDING]
    with ending_in_order():
        assert [signal.getsignal(number) for number in ENDING] != before
    assert [signal.getsignal(number) for number in ENDING] == before
