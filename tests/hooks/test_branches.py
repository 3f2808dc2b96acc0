"""The hooks go on with the session of the branch that is checked out."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.conversation import BLOCK, Conversation
from tests.support.hook_processes import payload, run_hook
from tests.support.staged import Stage, made_in, staged_object

tmp_path, talk = staged_object("talk", Conversation)


def turn(talk: Conversation, prompt: str, *commands: str, answer: str = "Done.") -> str:
    """One turn of a conversation; commands are run as the agent's shell calls."""
    talk.clock.pass_by(60)
    context = talk.prompt(prompt)
    for command in commands:
        talk.git(*command.split()[1:])
        call = {"tool_input": {"command": command}, "tool_use_id": f"call-{talk.clock()}"}
        talk.send("PreToolUse.Bash", **call)
        talk.send("PostToolUse.Bash", **call)
    talk.send("Stop", last_assistant_message=answer)
    return context


def current(talk: Conversation) -> str:
    return talk.guard.sessions.current().key


def goal(talk: Conversation, session: str = "") -> str:
    guard = talk.guard
    store = guard.sessions.store(guard.sessions.find(session) if session else None)
    return store.read_unlocked().state.goal


def test_after_a_switch_the_next_prompt_begins_the_branchs_session_and_says_so(
    talk: Conversation,
) -> None:
    turn(talk, "Port the parser to Rust")
    talk.guard.note({"learnings": ["The golden files have Windows line ends"]})
    talk.git("switch", "-q", "-c", "login")
    context = turn(talk, "Fix the login page")
    assert context.splitlines()[0] == (
        "[gitguard: the branch `login` is checked out: its new session `login` copied decisions "
        "and constraints from `main`; not its task.]"
    )
    assert (current(talk), goal(talk)) == ("login", "Fix the login page")
    assert goal(talk, "main") == "Port the parser to Rust"
    assert [note.text for note in talk.guard.state().learnings] == [
        "The golden files have Windows line ends"
    ]
    assert talk.faults() == []


def test_each_branchs_block_speaks_only_of_its_own_task(talk: Conversation) -> None:
    turn(talk, "Port the parser to Rust", answer="The parser now reads 12 of 14 grammars.")
    talk.git("switch", "-q", "-c", "login")
    turn(talk, "Fix the login page", answer="The login page keeps its cookie now.")
    on_login = turn(talk.beside("S2"), "where were we?")
    talk.git("switch", "-q", "main")
    on_main = talk.beside("S3").prompt("where were we?")
    assert "login page" in on_login
    assert "parser" not in on_login.lower()
    assert "Port the parser to Rust" in on_main
    assert "login page" not in on_main


def test_back_on_a_branch_its_session_goes_on(talk: Conversation) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    turn(talk, "Fix the login page")
    talk.git("switch", "-q", "main")
    context = turn(talk, "continue")
    assert "its session `main` continues" in context
    assert "Port the parser to Rust" in context.split(BLOCK)[1]
    assert (current(talk), goal(talk)) == ("main", "Port the parser to Rust")


def test_a_task_whose_conversation_creates_the_branch_moves_with_it(talk: Conversation) -> None:
    turn(talk, "Port the parser to Rust", "git switch -q -c port")
    context = turn(talk, "Now the tests")
    assert "the task moved along from the session `main` into `port`" in context
    assert BLOCK not in context
    assert (current(talk), goal(talk)) == ("port", "Port the parser to Rust")
    assert goal(talk, "main") == "START"
    store = talk.guard.sessions.store(talk.guard.sessions.find("main"))
    moved = store.read_unlocked().state.earlier[-1]
    assert (moved.goal, moved.status, moved.moved_to) == (
        "Port the parser to Rust",
        "moved",
        "port",
    )


def test_only_the_task_of_the_conversation_that_created_the_branch_moves(
    talk: Conversation,
) -> None:
    other = talk.beside("S2")
    turn(talk, "Port the parser to Rust")
    turn(other, "Fix the login page", "git checkout -q -b login")
    turn(talk, "Write the docs in docs/guide.md")
    assert (current(talk), goal(talk)) == ("login", "Write the docs in docs/guide.md")
    turn(other, "Now its tests")
    assert goal(talk) == "Fix the login page"
    talk.git("switch", "-q", "main")
    turn(talk, "continue")
    assert (current(talk), goal(talk)) == ("main", "Port the parser to Rust")


def test_a_branch_created_beside_the_tasks_conversation_takes_no_task_along(
    talk: Conversation,
) -> None:
    turn(talk.beside("S2"), "hi", "git checkout -q -b login")
    turn(talk, "Port the parser to Rust")
    assert (current(talk), goal(talk)) == ("login", "Port the parser to Rust")


def test_nothing_is_followed_inside_of_a_turn(talk: Conversation) -> None:
    talk.prompt("Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    talk.send("PostToolUse.Bash")
    talk.send("PreCompact.auto")
    talk.send("SessionStart.compact")
    talk.send("Stop", last_assistant_message="Done.")
    assert current(talk) == "main"


def test_following_waits_while_a_turn_of_another_conversation_runs(talk: Conversation) -> None:
    other = talk.beside("S2")
    other.prompt("Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    talk.prompt("Fix the login page")
    assert current(talk) == "main"
    other.send("Stop", last_assistant_message="Done.")
    talk.prompt("and its tests")
    assert current(talk) == "login"


def test_a_turn_whose_host_died_holds_nobody_up_for_long(talk: Conversation) -> None:
    talk.beside("S2").prompt("Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    talk.clock.pass_by(700)
    talk.prompt("Fix the login page")
    assert current(talk) == "login"


def test_a_detached_head_keeps_the_session(talk: Conversation) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("checkout", "-q", "--detach")
    assert "is checked out" not in turn(talk, "and now?")
    assert current(talk) == "main"


@pytest.mark.parametrize("name", ["rebase-merge", "rebase-apply", "BISECT_LOG", "MERGE_HEAD"])
def test_in_the_middle_of_a_rebase_bisect_or_merge_the_session_stays(
    talk: Conversation, name: str
) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    (talk.root / ".git" / name).touch()
    turn(talk, "Now the tests")
    assert current(talk) == "main"
    (talk.root / ".git" / name).unlink()
    turn(talk, "And the docs")
    assert current(talk) == "login"


def test_a_checked_out_checkpoint_branch_is_not_followed(talk: Conversation) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-f", "gitguard/main")
    turn(talk, "What is in here?")
    assert current(talk) == "main"


def test_session_use_pins_until_the_next_change_of_branch(talk: Conversation) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    guard = talk.guard
    guard.sessions.use(guard.sessions.find("main"))
    turn(talk, "Now the tests")
    assert current(talk) == "main"
    talk.git("switch", "-q", "-c", "docs")
    turn(talk, "Write the docs in docs/guide.md")
    assert current(talk) == "docs"


def test_with_a_fixed_session_no_branch_is_followed(talk: Conversation, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "config.yaml").write_text("session:\n  follow: fixed\n")
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    turn(talk, "Fix the login page")
    assert current(talk) == "main"


def test_an_archived_session_of_the_branch_is_reopened(talk: Conversation) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    turn(talk, "Fix the login page")
    talk.git("switch", "-q", "main")
    turn(talk, "continue")
    guard = talk.guard
    guard.sessions.close(guard.sessions.find("login"))
    talk.git("switch", "-q", "login")
    context = turn(talk, "continue")
    assert "its archived session `login` was reopened" in context
    assert goal(talk) == "Fix the login page"


def test_a_session_known_only_from_a_remote_waits_until_somebody_trusts_it(
    talk: Conversation,
) -> None:
    turn(talk, "Port the parser to Rust")
    head = talk.git("rev-parse", "gitguard/main").strip()
    talk.git("update-ref", "refs/remotes/origin/gitguard/login", head)
    talk.git("switch", "-q", "-c", "login")
    context = turn(talk, "Fix the login page")
    assert context.splitlines()[0].startswith(
        "[gitguard: the branch `login` is checked out, but its session cannot be used: "
    )
    assert "Until then, gitguard saves the work in the session `main`." in context
    assert "cannot be used" not in turn(talk, "and its tests")
    assert current(talk) == "main"
    store = talk.guard.sessions.store(talk.guard.sessions.find("login"))
    assert not Path(store.states.path).exists()


def test_a_renamed_branch_keeps_its_session_and_a_new_branch_of_the_old_name_gets_another(
    talk: Conversation,
) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    turn(talk, "Fix the login page")
    talk.git("branch", "-m", "login", "sign-in")
    assert "is checked out" not in turn(talk, "Now its tests")
    assert (current(talk), goal(talk)) == ("login", "Fix the login page")
    talk.git("switch", "-q", "-c", "login")
    turn(talk, "Write the docs in docs/guide.md")
    assert (current(talk), goal(talk)) == ("login-repo", "Write the docs in docs/guide.md")
    talk.git("switch", "-q", "sign-in")
    turn(talk, "continue")
    assert (current(talk), goal(talk)) == ("login", "Fix the login page")


def test_a_branch_renamed_from_elsewhere_keeps_its_session(talk: Conversation) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    turn(talk, "Fix the login page")
    talk.git("switch", "-q", "main")
    turn(talk, "continue")
    talk.git("branch", "-m", "login", "signin")
    talk.git("branch", "-m", "signin", "sign-in")
    talk.git("switch", "-q", "sign-in")
    turn(talk, "continue")
    assert (current(talk), goal(talk)) == ("login", "Fix the login page")


def test_the_session_of_a_branch_deleted_after_a_merge_stays_and_goes_on_if_it_comes_back(
    talk: Conversation,
) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    turn(talk, "Fix the login page")
    talk.git("switch", "-q", "main")
    talk.git("merge", "-q", "login")
    talk.git("branch", "-q", "-d", "login")
    turn(talk, "continue")
    assert (current(talk), goal(talk)) == ("main", "Port the parser to Rust")
    assert set(talk.guard.sessions.heads()) == {"main", "login"}
    talk.git("switch", "-q", "-c", "login")
    turn(talk.beside("S2"), "continue")
    assert (current(talk), goal(talk)) == ("login", "Fix the login page")


def test_the_session_of_a_branch_in_another_worktree_stays_with_that_worktree(
    talk: Conversation,
) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("worktree", "add", "-q", "-b", "login", "../two")
    there = talk.beside("S2")
    there.root = talk.root.parent / "two"
    there.guard.ensure()
    turn(there, "Fix the login page")
    there.git("switch", "-q", "--detach")
    talk.git("switch", "-q", "login")
    turn(talk, "Write the docs in docs/guide.md")
    assert (current(there), goal(there)) == ("login", "Fix the login page")
    assert (current(talk), goal(talk)) == ("login-repo", "Write the docs in docs/guide.md")


def test_a_session_begins_with_what_the_session_knows_that_its_branch_was_cut_from(
    talk: Conversation,
) -> None:
    talk.guard.note({"learnings": ["Learned on main"]})
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    turn(talk, "Fix the login page")
    talk.guard.note({"learnings": ["Learned on login"]})
    talk.git("switch", "-q", "-c", "docs", "main")
    turn(talk, "Write the docs in docs/guide.md")
    assert [note.text for note in talk.guard.state().learnings] == ["Learned on main"]


@pytest.mark.parametrize("by_the_agent", [False, True])
def test_a_session_takes_nothing_along_from_a_branch_that_its_own_was_not_cut_from(
    talk: Conversation, *, by_the_agent: bool
) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "feat-a")
    turn(talk, "Fix the login page")
    talk.guard.note({"decisions": [{"what": "Use tabs", "why": "the guide"}]})
    commands = ("git switch -q main", "git switch -q -c feat-b")
    if by_the_agent:
        turn(talk, "Now something else", *commands)
    else:
        for command in commands:
            talk.git(*command.split()[1:])
    context = turn(talk, "Write the docs in docs/guide.md")
    assert "copied decisions and constraints from `main`; not its task" in context
    state = talk.guard.state()
    assert (current(talk), state.goal) == ("feat-b", "Write the docs in docs/guide.md")
    assert state.decisions == ()
    assert "login" not in str(state.exchanges)


def test_a_session_begins_empty_where_the_branch_that_its_own_was_cut_from_has_none(
    talk: Conversation,
) -> None:
    talk.guard.note({"learnings": ["Learned on main"]})
    turn(talk, "Port the parser to Rust")
    talk.git("branch", "quiet")
    talk.git("switch", "-q", "-c", "docs", "quiet")
    context = turn(talk, "Write the docs in docs/guide.md")
    assert "its new session `docs` begins empty; the previous task stays in `main`" in context
    assert talk.guard.state().learnings == ()


def test_a_session_whose_chosen_branch_is_lost_stays_with_the_branch_it_began_on(
    talk: Conversation,
) -> None:
    turn(talk, "Port the parser to Rust")
    (talk.root / ".gitguard" / "branch.json").unlink()
    assert "is checked out" not in turn(talk, "Now the tests")
    (talk.root / ".gitguard" / "branch.json").unlink(missing_ok=True)
    talk.git("switch", "-q", "-c", "login")
    turn(talk, "Fix the login page")
    assert (current(talk), goal(talk, "main")) == ("login", "Port the parser to Rust")


def test_a_session_that_the_host_names_never_follows(talk: Conversation) -> None:
    turn(talk, "Port the parser to Rust")
    talk.git("switch", "-q", "-c", "login")
    named = Conversation(talk.root.parent, "S2", talk.clock)
    named._places = named._places.replace(session="agent:main:main")
    named.guard.ensure()
    turn(named, "Fix the login page")
    assert named.guard.state().goal == "Fix the login page"
    assert current(talk) == "main"


def test_a_crash_at_any_step_of_following_is_mended_by_the_next_prompt(tmp_path: Path) -> None:
    def begin(folder: Path) -> Conversation:
        talk = Conversation(folder)
        turn(talk, "Port the parser to Rust", "git switch -q -c port")
        return talk

    steps: list[str] = []
    stage = Stage(tmp_path / "stage", begin)
    for number in range(60):
        talk = made_in(stage.set())
        steps.clear()

        def crash(step: str, number: int = number) -> None:
            steps.append(step)
            if len(steps) > number:
                raise KeyboardInterrupt

        places, talk._places = talk._places, talk._places.replace(at_step=crash)
        try:
            talk.prompt("Now the tests")
        except KeyboardInterrupt:
            pass
        else:
            break
        talk._places = places
        turn(talk, "Now the tests")
        state = talk.guard.state()
        assert (current(talk), goal(talk)) == ("port", "Port the parser to Rust"), steps
        assert goal(talk, "main") == "START", steps
        assert state.earlier == (), steps
    assert {"branch-session-ready", "branch-chosen", "session-settled"} <= set(steps)


def test_two_prompts_at_once_follow_the_branch_once(talk: Conversation) -> None:
    talk.git("switch", "-q", "-c", "login")
    with ThreadPoolExecutor() as pool:
        prompts = [
            pool.submit(
                run_hook, talk, payload(talk, "UserPromptSubmit", session_id=name, prompt=name)
            )
            for name in ("S1", "S2", "S3")
        ]
        replies = [prompt.result().stdout.decode() for prompt in prompts]
    # Whoever began beside another one is told of that instead.
    untold = [line for c in talk.guard.status().host_sessions.values() for line in c.untold]
    assert sum("new session `login` copied" in line for line in (*replies, *untold)) == 1
    assert current(talk) == "login"
    store = talk.guard.sessions.store()
    said = store.folded(store.read_unlocked())[0].exchanges
    assert {exchange.origin.conversation for exchange in said} == {"S1", "S2", "S3"}
    assert talk.faults() == []


def test_after_a_switch_status_says_which_session_the_next_prompt_goes_to(
    talk: Conversation,
) -> None:
    turn(talk, "Port the parser to Rust")
    assert not any("next prompt" in warning for warning in talk.guard.status().warnings)
    talk.git("switch", "-q", "-c", "login")
    [warning] = [w for w in talk.guard.status().warnings if "next prompt" in w]
    assert warning.endswith("the next prompt goes to a new session `login`")
    talk.git("branch", "x/main", "main")
    talk.git("switch", "-q", "-c", "docs", "x/main")
    context = turn(talk, "Write the docs in docs/guide.md")
    assert "begins empty" in context, "a local branch is no remote's"
    talk.git("switch", "-q", "login")
    turn(talk, "Fix the login page")
    talk.git("switch", "-q", "main")
    [warning] = [w for w in talk.guard.status().warnings if "next prompt" in w]
    assert warning.endswith("the next prompt goes to the session `main`")


def test_a_removed_folder_comes_back_with_the_next_turn_and_leaves_no_fault(
    talk: Conversation,
) -> None:
    turn(talk, "Port the parser to Rust")
    shutil.rmtree(talk.root / ".gitguard")
    talk.send("SessionStart.resume")
    turn(talk, "Go on with the lexer of the parser")
    [restored] = talk.faults()
    assert "have been restored" in restored
