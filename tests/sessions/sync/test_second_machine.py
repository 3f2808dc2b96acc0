"""The first prompt on a second machine: whose memory it has, how old, and what differs here."""

from __future__ import annotations

from pathlib import Path

from gitguard.sessions.lane_join import join_kept
from gitguard.sessions.sync_record import OtherLane
from gitguard.sessions.syncing import Leaving, SyncRequest
from gitguard.store.disk.lock import Lock
from gitguard.store.session.workspace import Session
from tests.conftest import Clock, Git
from tests.support.conversation import Clock as TurnClock
from tests.support.conversation import Conversation
from tests.support.desks import desk, joined, writes
from tests.support.synced_machines import Machine, Remote, typed


def block(machine: Machine) -> str:
    return machine.guard.resume()


def test_the_block_says_from_which_machine_the_work_is_and_how_old(
    a: Machine, b: Machine, clock: Clock
) -> None:
    a.guard.note({"goal": "Port the parser"})
    a.settled()
    clock.advance(3 * 3600)
    joined(a, b)
    expected = f"Work from another machine: a (writer {a.writer}), saved 3 h ago"
    assert f"{expected}: the same commit is checked out here" in block(b)


def test_another_branch_and_commit_are_told(a: Machine, b: Machine) -> None:
    a.git("switch", "--quiet", "-c", "tokenizer")
    a.guard.sessions.use(Session.of("main"))
    first = a.git("rev-parse", "HEAD")
    a.git("commit", "--quiet", "--allow-empty", "-m", "Begin the tokenizer")
    there = a.git("rev-parse", "HEAD")
    a.learn("The tokenizer is hand-written")
    joined(a, b)
    text = block(b)
    assert "branch tokenizer there, main here" in text
    assert f"HEAD {there[:7]} there, a commit that this repository does not have" in text
    a.git("push", "--quiet", "origin", "tokenizer")
    b.git("fetch", "--quiet")
    assert f"HEAD {there[:7]} there, {first[:7]} here" in block(b)
    b.git("switch", "--quiet", "tokenizer")
    b.guard.sessions.use(Session.of("main"))
    assert "the same commit is checked out here" in block(b)


def test_the_first_prompt_names_files_whose_work_stayed_there(three: Path) -> None:
    clock = TurnClock()
    giver, giving = desk(three, "giver", clock)
    taker, taking = desk(three, "taker", clock)
    giving.prompt("Explain the parser in the README, and begin it.")
    writes(giving, "README.md", "# The parser\n")
    writes(giving, "parser.py", "PARSER = 1\n")
    giving.send("Stop")
    joined(giver, taker)
    told = taking.prompt("Where do we stand?")
    assert "Explain the parser in the README" in told
    assert "changed there, and in no commit here: README.md" in told
    assert "parser.py (not here)" in told
    # Once this machine works on, it is told as long as it lacks something.
    writes(taking, "notes.txt", "a\n")
    taking.send("Stop")
    later = Conversation(three / "taker", "later", clock)
    assert "in no commit here: README.md" in later.prompt("And now?")
    later.send("Stop")
    giver.git("commit", "--quiet", "--all", "-m", "Explain the parser")
    giver.git("push", "--quiet", "origin", "HEAD:main")
    taker.git("pull", "--quiet")
    last = Conversation(three / "taker", "last", clock)
    assert "Work from another machine" not in last.prompt("And now?")


def test_a_file_that_came_from_another_machine_is_said_to_be_its_agents(three: Path) -> None:
    """If the lane of that machine names the content, and somebody here trusts it."""
    clock = TurnClock()
    giver, giving = desk(three, "giver", clock)
    taker, taking = desk(three, "taker", clock)
    taking.prompt("Read the README.")
    taking.send("Stop")
    taker.guard.checkpoint("Before")
    giving.prompt("Explain the parser in the README.")
    writes(giving, "README.md", "# The parser\n")
    giving.send("Stop")
    (giver.git.root / "by-hand.md").write_text("Typed\n")
    giver.git("add", "--all")
    giver.git("commit", "--quiet", "-m", "Explain the parser")
    giver.git("push", "--quiet", "origin", "HEAD:main")
    giver.settled()
    taker.sync(pushes=False)
    taker.git("pull", "--quiet")
    taker.guard.checkpoint("After")
    log = typed(taker, "log", "--files").out
    assert "README.md  (somebody else)" in log
    taker.trust(giver)
    for words in (("log", "--files"), ("show", "--files")):
        shown = typed(taker, *words).out
        assert f"README.md  (agent of giver (writer {giver.writer}))" in shown, words
        assert "by-hand.md  (somebody else)" in shown, words


def test_files_that_changed_after_the_last_note_are_told_on_the_other_machine(
    a: Machine, b: Machine
) -> None:
    """As where a laptop is lost after a sync: nothing but files changed since a note."""
    joined(a, b)
    a.guard.note({"goal": "Port the parser"})
    (a.git.root / "README.md").write_text("# The parser\n")
    assert a.settled().joined == ()
    count = a.git("rev-list", "--count", a.lane)
    a.settled()
    assert a.git("rev-list", "--count", a.lane) == count
    b.settled()
    assert "changed there, and in no commit here: README.md" in block(b)


def test_a_sync_looks_at_files_for_the_session_at_work_alone(a: Machine) -> None:
    a.guard.sessions.use(Session.of("other"))
    a.settled()
    lanes = a.lanes
    (a.git.root / "README.md").write_text("# The parser\n")
    a.settled()
    moved = {name.split("/")[3] for name, commit in a.lanes.items() if lanes[name] != commit}
    assert moved == {"other"}


def test_it_is_said_that_files_which_no_lane_names_are_not_known(a: Machine, b: Machine) -> None:
    (a.git.root / "golden.csv").write_text("1,2\n")
    joined(a, b)
    (line,) = (line for line in block(b).splitlines() if "(writer" in line)
    assert "golden.csv" not in line
    assert line.endswith(
        "other changes there, such as files that git does not track, are not known here"
    )


def test_of_a_partial_clone_nobody_says_what_it_lacks(three: Path) -> None:
    clock = TurnClock()
    giver, giving = desk(three, "giver", clock)
    taker, taking = desk(three, "taker", clock)
    taker.git("config", "remote.origin.promisor", "true")
    giving.prompt("Explain the parser in the README.")
    writes(giving, "README.md", "# The parser\n")
    giving.send("Stop")
    joined(giver, taker)
    told = taking.prompt("Where do we stand?")
    assert "Work from another machine: giver" in told
    assert "in no commit here" not in told


def test_a_session_that_begins_after_the_sync_has_the_memory_at_once(
    three: Path,
) -> None:
    """As on a machine where another branch was checked out when it synced."""
    clock = TurnClock()
    giver, giving = desk(three, "giver", clock)
    taker, taking = desk(three, "taker", clock)
    giver.git("switch", "--quiet", "-c", "feature/tokenizer")
    giver.git("push", "--quiet", "origin", "feature/tokenizer")
    giving.prompt("Write the tokenizer by hand.")
    giving.send("Stop")
    giver.settled()
    taker.sync()
    taker.trust(giver)
    synced = taker.sync()
    assert [lane.branch for lane in synced.not_begun] == ["feature/tokenizer"]
    taker.git("fetch", "--quiet")
    taker.git("switch", "--quiet", "feature/tokenizer")
    told = taking.prompt("Where do we stand?")
    assert "its session `feature/tokenizer` continues from another machine" in told
    assert "Write the tokenizer by hand." in told
    assert "Work from another machine: giver" in told
    taking.send("Stop")
    assert taker.sync().problems == ()


def test_a_session_of_another_name_on_this_branch_is_told_with_a_command_that_works(
    three: Path,
) -> None:
    """As where the first machine began `main` and worked on `tokenizer`, which is cloned here."""
    clock = TurnClock()
    giver, giving = desk(three, "giver", clock)
    giver.git("switch", "--quiet", "-c", "tokenizer")
    giver.git("push", "--quiet", "origin", "tokenizer")
    giver.guard.sessions.use(Session.of("main"))
    giving.prompt("Write the tokenizer by hand.")
    giving.send("Stop")
    giver.settled()
    clock.pass_by(3 * 3600)
    home = three / "taker"
    Git(three)("clone", "-q", "-b", "tokenizer", str(three / "remote.git"), str(home / "repo"))
    taker = Machine(home / "repo", home, clock, str)
    taker.sync(pushes=False)
    taker.trust(giver)
    told = typed(taker, "sync", "--fetch").out
    assert "Not here yet: session main of giver" in told
    assert "to continue it, `gitguard session use main`" in told
    taking = Conversation(home, "trusted", clock)
    told = taking.prompt("Thanks")
    assert f"session main of giver (writer {giver.writer}), saved 3 h ago on this branch" in told
    assert "`gitguard session use main` continues it" in told
    typed(taker, "session", "use", "main")
    told = Conversation(home, "at-main", clock).prompt("Where do we stand?")
    assert "Write the tokenizer by hand." in told
    assert "not in use" not in told
    assert "Not here yet" not in typed(taker, "sync", "--fetch").out


def test_of_a_session_that_nobody_trusts_the_first_prompt_says_nothing(three: Path) -> None:
    clock = TurnClock()
    giver, giving = desk(three, "giver", clock)
    giver.guard.sessions.use(Session.of("other"))
    giving.prompt("Write the tokenizer by hand.")
    giving.send("Stop")
    giver.settled()
    taker, taking = desk(three, "taker", clock)
    taker.sync(pushes=False)
    assert "session other" not in taking.prompt("Thanks")


def test_the_command_for_a_session_of_another_branch_works(three: Path) -> None:
    clock = TurnClock()
    giver, giving = desk(three, "giver", clock)
    taker, _ = desk(three, "taker", clock)
    giver.git("switch", "--quiet", "-c", "feature/tokenizer")
    giving.prompt("Write the tokenizer by hand.")
    giving.send("Stop")
    giver.settled()
    taker.sync()
    taker.trust(giver)
    told = typed(taker, "sync", "--fetch").out
    command = "session use feature/tokenizer"
    assert f"check out feature/tokenizer, or run `gitguard {command}`" in told
    typed(taker, *command.split(" "))
    assert "Write the tokenizer by hand." in taker.guard.resume()


def test_a_clock_that_is_ahead_tells_no_age(a: Machine, b: Machine, clock: Clock) -> None:
    clock.advance(365 * 24 * 3600)
    a.guard.note({"goal": "Port the parser"})
    a.settled()
    clock.advance(-365 * 24 * 3600)
    joined(a, b)
    assert "saved at a time that is not known" in block(b)


def test_the_time_of_a_persons_answer_is_none_of_the_remotes(
    a: Machine, remote: Remote, clock: Clock
) -> None:
    def may_leave(_: Leaving) -> bool:
        clock.advance(3600)
        return True

    synced = a.guard.lanes.sync(SyncRequest(), may_leave)
    assert synced.queued == ""
    assert list(remote.lanes) == [a.lane]


def test_a_person_is_asked_once_about_a_writer(a: Machine, b: Machine) -> None:
    a.settled()
    asked: list[str] = []

    def may_join(lanes: tuple[OtherLane, ...]) -> bool:
        asked.extend(lane.writer for lane in lanes)
        return False

    for _ in range(2):
        b.guard.lanes.sync(SyncRequest(), lambda _: True, may_join=may_join)
    assert asked == [a.writer]
    a.learn("Tests take 3 minutes")
    a.settled()
    b.settled()
    assert b.learned == set()
    b.trust(a)
    b.settled()
    assert b.learned == {"Tests take 3 minutes"}


def test_long_lanes_are_left_to_the_next_sync(a: Machine, b: Machine) -> None:
    a.learn("Tests take 3 minutes")
    a.settled()
    b.sync(pushes=False)
    b.trust(a)
    store = b.guard.store()
    with store.lock():
        joined_now, notes = join_kept(store, 1)
    assert joined_now is None
    assert notes == ("`gitguard sync` joins what your other machines know of this session",)
    assert b.learned == set()
    with store.lock():
        joined_now, notes = join_kept(store, 2)
    assert joined_now is not None
    assert (joined_now.writers, notes) == (
        (a.writer,),
        ("this session continues 1 lane of other machines",),
    )
    assert b.learned == {"Tests take 3 minutes"}


def test_a_sync_that_runs_is_not_waited_for_as_a_session_begins(a: Machine, b: Machine) -> None:
    a.settled()
    b.sync(pushes=False)
    b.trust(a)
    workspace = b.guard.workspace
    with Lock(workspace.lanes_lock, timeout=0, clock=workspace.clock):
        store = b.guard.store()
        with store.lock():
            joined_now, (note,) = join_kept(store)
    assert joined_now is None
    assert note.startswith("no lane of another machine was joined: ")


def test_a_clone_that_syncs_before_its_session_begins_has_the_memory_as_it_begins(
    a: Machine, three: Path, clock: Clock
) -> None:
    a.learn("Tests take 3 minutes")
    a.settled()
    Git(three)("clone", "--quiet", str(three / "remote.git"), str(three / "d"))
    fresh = Machine(three / "d", three / "d-home", clock, str)
    synced = fresh.sync()
    assert [lane.writer for lane in synced.colleagues] == [a.writer]
    fresh.trust(a)
    assert [lane.session for lane in fresh.sync().not_begun] == ["main"]
    startup = fresh.guard.ensure()
    assert startup.joined == (a.writer,)
    assert startup.notes == ("this session continues 1 lane of other machines",)
    assert fresh.learned == {"Tests take 3 minutes"}


def test_what_was_joined_is_another_machines_in_search_show_bundle_and_ensure(
    a: Machine, b: Machine
) -> None:
    a.guard.note({"goal": "Port the parser", "learnings": ["Tables are slow"]})
    joined(a, b)
    b.learn("Tables are wide")
    b.guard.checkpoint("joined")
    (theirs,) = b.guard.review.search(("slow",)).matches
    (ours,) = b.guard.review.search(("wide",)).matches
    goals = b.guard.review.search(("Port the parser",)).matches
    (goal,) = [match for match in goals if not match.writer]
    shown = [(match.is_ours, match.elsewhere, match.writer) for match in (theirs, goal, ours)]
    assert shown == [(False, True, ""), (False, True, ""), (True, False, "")]
    found = typed(b, "search", "slow").out
    assert "agent, from another machine" in found
    assert "NOT OURS" not in found
    for words in (("show",), ("show", "2")):
        out = typed(b, *words).out
        assert "Goal: Port the parser (agent, from another machine, " in out
    for words in (("bundle",), ("ensure",), ("resume",)):
        assert "Goal: Port the parser (from another machine)\n" in typed(b, *words).out
    assert "from another machine" not in typed(a, "show").out
