"""The session branch in other hands: what is handed back, what is committed, and who says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard.errors import NOT_OURS, GitguardError, MissingState, Pending, Tampered
from gitguard.hooks.asking import FIRST_LINE
from gitguard.store.session import standing
from gitguard.store.session.anchor import RETURN_NOTED, RETURN_SAID, RETURNED, Anchor
from gitguard.store.session.standing import Head, judge
from tests.support.conversation import BLOCK, Conversation
from tests.support.foreign_heads import (
    BRANCH,
    FORGED,
    HELD,
    OURS,
    PUT_BACK,
    STOPPED,
    amended,
    child_on_top,
    code_in_its_place,
    deleted,
    deleted_again,
    rewound,
    symbolic,
)
from tests.support.staged import Stage, made_in, staged_object

Change = Callable[[Conversation], None]

GO_ON, HOLD, STOP = "goes on", "goes on, and commits nothing", "stops"
ANCHOR = Anchor(committed="a" * 40, sequence=3)


def begin_talk(folder: Path) -> Conversation:
    """A session of a goal, a decision and what a user said, with four checkpoints or more."""
    talk = Conversation(folder)
    talk.prompt("Write the parser")
    talk.guard.note({"goal": "Ship the parser", "decisions": [{"what": "One pass"}]})
    talk.guard.checkpoint("A reason.")
    talk.send("Stop")
    return talk


tmp_path, talk = staged_object("talk", begin_talk)


def head_of(talk: Conversation) -> str:
    return talk.git("for-each-ref", "--format=%(objectname) %(symref)", BRANCH).strip()


def refs_of(talk: Conversation) -> str:
    return talk.git("for-each-ref", "refs/heads", "refs/gitguard/archive")


# One verdict

HEADS = {
    "none": (Head(standing.NONE), standing.GO_ON),
    "ours": (Head(standing.OURS, "a" * 40, ANCHOR), standing.GO_ON),
    "checked out": (Head(standing.OURS, "a" * 40, ANCHOR, checked_out_in="/w"), standing.WAIT),
    "remote only": (Head(standing.REMOTE_ONLY, "b" * 40, remote="r"), standing.WAIT),
    "deleted": (Head(standing.DELETED, "", ANCHOR), standing.PUT_BACK),
    "about to be put back": (
        Head(standing.DELETED, "", ANCHOR.replace(branch_return=RETURN_NOTED)),
        standing.PUT_BACK,
    ),
    "deleted again": (
        Head(standing.DELETED, "", ANCHOR.replace(branch_return=RETURNED)),
        standing.STOP,
    ),
    "deleted again much later": (
        Head(standing.DELETED, "", ANCHOR.replace(branch_return=RETURN_SAID)),
        standing.STOP,
    ),
    "gone": (Head(standing.GONE, "b" * 40, ANCHOR), standing.STOP),
    "moved": (Head(standing.MOVED, "b" * 40, ANCHOR), standing.HOLD),
    "advanced": (Head(standing.ADVANCED, "b" * 40, ANCHOR), standing.HOLD),
    "symbolic": (Head(standing.SYMBOLIC, "", ANCHOR, points_to="refs/heads/x"), standing.HOLD),
    "untrusted": (Head(standing.UNTRUSTED, "b" * 40), standing.HOLD),
    "another repository": (
        Head(standing.NONE, replaced_repository=True, lost="a" * 40),
        standing.REFUSE,
    ),
}


@pytest.mark.parametrize("name", HEADS)
def test_one_verdict_says_what_follows_from_anchor_branch_and_objects(name: str) -> None:
    head, action = HEADS[name]
    verdict = judge(head, BRANCH)
    assert verdict.action == action
    assert (verdict.problem is None) == (action == standing.GO_ON)
    assert isinstance(verdict.problem, MissingState) == (action == standing.STOP)
    if verdict.problem is not None:
        assert verdict.problem.hint
        assert verdict.problem.message in verdict.line
        assert "`gitguard repair --dry-run`" in verdict.line


# All answer alike


def _told(text: str) -> tuple[str, str]:
    """Return the answer of a hook, and what it says of the branch."""
    line = text.partition("\n")[0]
    if line == MissingState.status:
        return STOP, text.split("\n")[1]
    if "no checkpoint is taken" in line:
        return HOLD, line
    return GO_ON, line


def _prompt(talk: Conversation) -> tuple[str, str]:
    text = talk.beside("S2").prompt("And its tests?")
    assert text.count(BLOCK) == 1
    assert FIRST_LINE not in text
    return _told(text)


def _compaction(talk: Conversation) -> tuple[str, str]:
    talk.send("PreCompact")
    text = talk.send("SessionStart.compact")["hookSpecificOutput"]["additionalContext"]
    assert text.count(BLOCK) == 1
    return _told(text)


def _tool_call(talk: Conversation) -> tuple[str, str]:
    talk.beside("S3").prompt("Go on")
    answer = talk.beside("S3").bash("make")
    if "stopReason" in answer:
        status, said = answer["stopReason"].split("\n")
        assert status == MissingState.status
        return STOP, said
    assert answer == {}
    return _told(talk.beside("S3").prompt("Go on"))


def _raised(ask: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    try:
        return ask()
    except MissingState as error:
        return STOP, f"{error.message} {error.hint}"


def _gate(talk: Conversation) -> tuple[str, str]:
    def ask() -> tuple[str, str]:
        gated = talk.guard.gate("S4", action_changed_state=True)
        assert gated.verdict.action == "continue"
        return (HOLD if gated.saved and gated.saved.pending else GO_ON), gated.branch

    return _raised(ask)


def _bundle(talk: Conversation) -> tuple[str, str]:
    def ask() -> tuple[str, str]:
        built = talk.guard.bundle()
        assert built.goal == "Ship the parser"
        is_told = built.branch and "put it back" not in built.branch
        return (HOLD if is_told else GO_ON), built.branch

    return _raised(ask)


def _resume(talk: Conversation) -> tuple[str, str]:
    def ask() -> tuple[str, str]:
        block, pending = talk.guard.resume(), talk.guard.sessions.why_not_committed()
        assert block.count(BLOCK) == 1
        if pending is not None:
            assert pending.message.split(":")[1].strip()[:40] in block.replace("\n", " ")
        return (HOLD, pending.message) if pending else (GO_ON, "")

    return _raised(ask)


def _ensure(talk: Conversation) -> tuple[str, str]:
    def ask() -> tuple[str, str]:
        startup = talk.guard.ensure()
        assert startup.state.goal == "Ship the parser"
        pending = startup.saved.pending if startup.saved else ""
        return (HOLD, pending) if pending else (GO_ON, "")

    return _raised(ask)


def _status(talk: Conversation) -> tuple[str, str]:
    error = talk.guard.status().error
    if isinstance(error, MissingState):
        return STOP, error.message
    is_held = isinstance(error, NOT_OURS) and "`gitguard ensure`" not in error.hint
    return (HOLD, error.message) if is_held and error else (GO_ON, "")


ASKED = (_prompt, _compaction, _tool_call, _gate, _bundle, _resume, _ensure, _status)


def _name(change: Change) -> str:
    return change.__name__


@pytest.mark.parametrize("ask", ASKED, ids=lambda ask: ask.__name__.strip("_"))
def test_hooks_and_commands_answer_alike_in_every_situation(
    tmp_path: Path, ask: Callable[[Conversation], tuple[str, str]]
) -> None:
    situations: list[tuple[Change, str, str]] = [
        *((change, GO_ON, "") for change in (*OURS, *PUT_BACK)),
        *((change, HOLD, BRANCH) for change in HELD),
        *((change, STOP, "gone") for change in STOPPED.values()),
    ]
    wrong: dict[str, tuple[str, str]] = {}
    stage = Stage(tmp_path / "stage", begin_talk)
    for change, answer, reason in situations:
        talk = made_in(stage.set())
        change(talk)
        got, text = ask(talk)
        says = reason in text or (answer == STOP and "git no longer finds all of" in text)
        if got != answer or not says:
            wrong[str(change)] = got, text
    assert wrong == {}


# A deleted branch


@pytest.mark.parametrize("change", PUT_BACK, ids=_name)
def test_a_deleted_branch_is_put_back_once_and_said_with_the_way_to_forget_it(
    talk: Conversation, change: Change
) -> None:
    before = head_of(talk)
    change(talk)
    text = talk.beside("S2").prompt("Go on")
    assert text.startswith(f"[gitguard: somebody deleted `{BRANCH}`; gitguard put it back at cp_")
    assert "`gitguard repair --forget`" in text.partition("\n")[0]
    assert talk.git("merge-base", "--is-ancestor", before, BRANCH) == ""
    assert "put it back" not in talk.beside("S3").prompt("Go on")
    assert talk.guard.ensure().notes == ()


def test_a_branch_that_is_deleted_again_is_meant_to_be(talk: Conversation) -> None:
    deleted(talk)
    assert BLOCK in talk.beside("S2").prompt("Go on")
    talk.send("Stop")  # another checkpoint
    deleted(talk)
    text = talk.beside("S3").prompt("Go on")
    assert text.startswith(f"{MissingState.status}\n`{BRANCH}` is gone again")
    assert "Ship the parser" in text
    talk.beside("S3").send("Stop")
    assert head_of(talk) == ""


def test_the_way_to_forget_a_deleted_branch_begins_a_new_history(talk: Conversation) -> None:
    deleted_again(talk)
    talk.guard.forget()
    assert talk.guard.ensure().state.goal == "Ship the parser"
    assert [c.sequence for c in talk.guard.log()] == [1]
    assert BLOCK in talk.beside("S2").prompt("Go on")


def test_a_person_who_puts_the_branch_back_makes_the_next_deletion_the_first(
    talk: Conversation,
) -> None:
    deleted_again(talk)
    talk.guard.archive_theirs()
    deleted(talk)
    assert talk.guard.ensure().state.goal == "Ship the parser"
    assert head_of(talk)


def test_a_command_that_only_looks_puts_nothing_back(talk: Conversation) -> None:
    deleted(talk)
    overview = talk.guard.status()
    assert overview.standing == "deleted"
    assert overview.error is not None
    assert "`gitguard ensure`" in overview.error.hint
    with pytest.raises(Tampered):
        talk.guard.log()
    assert head_of(talk) == ""


def test_a_ref_that_somebody_makes_meanwhile_is_never_overwritten(talk: Conversation) -> None:
    deleted(talk)
    theirs = talk.git("rev-parse", "HEAD").strip()

    def make(step: str) -> None:
        if step == "return-noted":
            talk.git("update-ref", BRANCH, theirs)

    places, talk._places = talk._places, talk._places.replace(at_step=make)
    startup = talk.guard.ensure()
    talk._places = places
    assert head_of(talk) == theirs
    assert startup.saved is not None
    assert theirs[:12] in startup.saved.pending


@pytest.mark.parametrize("step", ["return-noted", "ref-put", "branch-returned"])
def test_a_crash_while_a_branch_is_put_back_loses_neither_branch_nor_word(
    talk: Conversation, step: str
) -> None:
    before = head_of(talk)
    deleted(talk)

    def crash(name: str) -> None:
        if name == step:
            raise KeyboardInterrupt

    places, talk._places = talk._places, talk._places.replace(at_step=crash)
    with pytest.raises(KeyboardInterrupt):
        talk.guard.ensure()
    talk._places = places
    assert "put it back" in talk.beside("S2").prompt("Go on")
    assert talk.git("merge-base", "--is-ancestor", before, BRANCH) == ""
    deleted(talk)
    with pytest.raises(MissingState):
        talk.guard.ensure()


def test_a_pending_commit_of_ours_is_what_a_deleted_branch_comes_back_at(
    talk: Conversation,
) -> None:
    def crash(name: str) -> None:
        if name == "ref-moved":
            raise KeyboardInterrupt

    places, talk._places = talk._places, talk._places.replace(at_step=crash)
    with pytest.raises(KeyboardInterrupt):
        talk.guard.checkpoint("Before the power went.")
    talk._places = places
    newest = head_of(talk)
    deleted(talk)
    talk.guard.ensure()
    assert head_of(talk) == newest
    assert talk.guard.log(1)[0].why == "Before the power went."


def test_a_branch_in_the_way_keeps_the_memory_and_says_why(talk: Conversation) -> None:
    deleted(talk)
    talk.git("branch", "gitguard")
    text = talk.beside("S2").prompt("Go on")
    assert "takes the name that gitguard needs" in text.partition("\n")[0]
    assert BLOCK in text
    talk.git("branch", "--quiet", "-D", "gitguard")
    assert "put it back" in talk.beside("S2").prompt("Go on")


def test_a_tool_call_notices_a_branch_that_its_own_turn_deleted_for_good(
    talk: Conversation,
) -> None:
    deleted(talk)
    talk.prompt("Go on")
    assert talk.bash("git branch -D gitguard/main") == {}
    deleted(talk)
    assert "is gone again" in talk.bash("make")["stopReason"]


# A head that is not ours


@pytest.mark.parametrize("change", HELD, ids=_name)
def test_beside_a_foreign_head_nothing_is_committed_until_a_person_decides(
    talk: Conversation, change: Change
) -> None:
    change(talk)
    before = refs_of(talk)
    other = talk.beside("S2")
    for words in ("Use three passes", "And then the tests"):
        assert "no checkpoint is taken" in other.prompt(words).partition("\n")[0]
        assert other.bash("make") == {}
        other.send("PostToolUse.Bash")
        other.send("PreCompact")
        other.send("SessionStart.compact")
        other.send("Stop")
    saved = talk.guard.note({"constraints": ["No new dependency"]}).saved
    assert saved is not None
    assert saved.pending
    with pytest.raises(NOT_OURS):
        talk.guard.checkpoint("By hand.")
    assert refs_of(talk) == before


@pytest.mark.parametrize("change", [rewound, child_on_top])
def test_what_was_saved_beside_a_foreign_head_is_committed_once_a_person_decides(
    talk: Conversation, change: Change
) -> None:
    ours = head_of(talk)
    change(talk)
    talk.beside("S2").prompt("Use three passes")
    talk.guard.note({"constraints": ["No new dependency"]})
    if change is rewound:
        talk.guard.archive_theirs()
    else:
        talk.git("update-ref", BRANCH, ours)
    assert talk.guard.ensure().saved
    state = talk.git("show", f"{BRANCH}:state.json")
    assert "No new dependency" in state
    assert "Use three passes" in state
    assert "no checkpoint is taken" not in talk.beside("S2").prompt("Go on")


def test_the_block_beside_a_foreign_head_is_of_the_anchored_checkpoint_with_the_reason(
    talk: Conversation,
) -> None:
    ours = talk.guard.log(1)[0].name
    child_on_top(talk)
    for block in (talk.guard.resume(), talk.beside("S2").prompt("Go on")):
        assert f'checkpoint="{ours}"' in block
        assert FORGED not in block
        assert "ahead of" in block


def test_working_files_come_back_beside_a_foreign_head(talk: Conversation) -> None:
    rewound(talk)
    (talk.root / ".gitguard/sessions/main/state.json").unlink()
    (talk.root / ".gitguard/sessions/main/summary.md").unlink()
    startup = talk.guard.ensure()
    assert (startup.how, startup.state.goal) == ("restored", "Ship the parser")
    assert startup.saved is not None
    assert startup.saved.pending


def test_an_anchor_that_was_forgotten_beside_its_branch_keeps_the_memory(
    talk: Conversation,
) -> None:
    talk.guard.forget()
    text = talk.beside("S2").prompt("Go on")
    assert "this machine has no record of writing it" in text.partition("\n")[0]
    assert "Ship the parser" in text
    assert "Ship the parser" in talk.guard.resume()


def test_a_branch_in_a_worktree_is_told_of_at_the_first_prompt_alone(talk: Conversation) -> None:
    talk.git("worktree", "add", "--quiet", str(talk.root.parent / "beside"), "gitguard/main")
    other = talk.beside("S2")
    assert "is checked out in" in other.prompt("Go on").partition("\n")[0]
    assert "is checked out in" not in other.prompt("Go on")


@pytest.mark.parametrize("change", [symbolic, rewound])
def test_every_way_out_that_is_listed_can_be_gone(talk: Conversation, change: Change) -> None:
    change(talk)
    (problem,) = talk.guard.diagnose()
    assert problem.ways
    if change is symbolic:
        assert f"`git symbolic-ref -d {BRANCH}`" in problem.what
        talk.git("symbolic-ref", "-d", BRANCH)
    talk.guard.archive_theirs()
    assert talk.guard.ensure().state.goal == "Ship the parser"
    assert talk.guard.status().error is None


@pytest.mark.parametrize("name", STOPPED)
def test_this_machines_copy_goes_on_in_a_new_history_where_the_branch_is_gone(
    talk: Conversation, name: str
) -> None:
    STOPPED[name](talk)
    (problem,) = talk.guard.diagnose()
    assert problem.ways
    from gitguard.store.session.workspace import Session

    talk.guard.sessions.fork(Session.of("onwards"))
    assert talk.guard.state().goal == "Ship the parser"
    assert BLOCK in talk.beside("S2").prompt("Go on")


# The line about saving


def test_hooks_say_that_they_save_commands_and_files_only_where_they_do(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    assert talk.prompt("Begin") == FIRST_LINE
    code_in_its_place(talk)
    assert FIRST_LINE not in talk.beside("S2").prompt("Begin")
    unsaved = Conversation(tmp_path / "other")
    (tmp_path / "other" / "config").mkdir()
    (tmp_path / "other" / "config" / "config.yaml").write_text("files: {enabled: false}\n")
    text = unsaved.prompt("Begin")
    assert "hooks save commands and files" not in text
    assert "gitguard note --decision" in text


# Reading commands


def _reads(talk: Conversation) -> dict[str, Callable[[], object]]:
    guard = talk.guard
    review, looking, sessions = guard.review, guard.history, guard.sessions
    return {
        "report": lambda: review.report("HEAD~1..HEAD"),
        "report as json": lambda: review.report("HEAD~1..HEAD", "json"),
        "report as html": lambda: review.report("HEAD~1..HEAD", "html"),
        "why": lambda: review.why("parser.py"),
        "at": lambda: review.at("HEAD"),
        "course": lambda: review.course("HEAD~1..HEAD"),
        "search": lambda: review.search(("Forged", "parser")),
        "log": lambda: guard.log(),
        "log --all": lambda: looking.log(every_session=True),
        "show": lambda: guard.show("state.json").decode(),
        "show snapshot": lambda: guard.show("snapshot.yaml").decode(),
        "diff": lambda: looking.diff(),
        "publish": lambda: review.publication("HEAD~1..HEAD"),
        "session list": lambda: (sessions.goals(), sessions.heads(), sessions.keys()),
        "session show": lambda: sessions.show(),
        "session tasks": lambda: sessions.tasks(),
        "status": lambda: guard.status(),
        "verify": lambda: guard.verify(),
        "resume": lambda: guard.resume(),
        "bundle": lambda: guard.bundle(with_summary=True),
    }


@pytest.mark.parametrize("is_tied", [True, False], ids=["an agent's commit", "a person's commit"])
@pytest.mark.parametrize("change", [child_on_top, amended], ids=_name)
def test_no_reading_command_speaks_for_what_lies_past_the_anchored_head(
    talk: Conversation, change: Change, *, is_tied: bool
) -> None:
    path = talk.root / "parser.py"
    path.write_text("parse = None\n")
    if is_tied:
        talk.send("PostToolUse.Write", tool_input={"file_path": str(path), "content": "x"})
    talk.git("add", "parser.py")
    talk.git("commit", "--quiet", "-m", "The parser")
    if is_tied:
        talk.guard.checkpoint("After the commit.")
    change(talk)
    said = {}
    for name, read in _reads(talk).items():
        try:
            said[name] = str(read())
        except GitguardError as error:
            said[name] = error.message
    assert [name for name, text in said.items() if FORGED in text] == []
    assert "history written by this machine" not in said["report"]
    if is_tied:
        assert "Ship the parser" in said["report"]
    assert "One pass" in said["search"] or "Ship the parser" in said["search"]


def test_a_search_beside_a_foreign_head_finds_what_this_machine_wrote_and_says_so(
    talk: Conversation,
) -> None:
    child_on_top(talk)
    results = talk.guard.review.search(("parser",))
    assert results.matches
    assert all(match.is_ours for match in results.matches)
    assert any("only what this machine wrote was searched" in note for note in results.notes)
    untrusted = talk.guard.review.search(("Forged",), untrusted=True)
    assert untrusted.matches
    assert not any(match.is_ours for match in untrusted.matches)


def test_resume_prints_the_block_and_ends_as_pending_beside_a_foreign_head(
    talk: Conversation,
) -> None:
    rewound(talk)
    pending = talk.guard.sessions.why_not_committed()
    assert isinstance(pending, Pending)
    assert "`gitguard repair --archive-theirs`" in pending.hint
