"""A line of code leads to what was decided, tried and asked for while it was written."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard.errors import InvalidInput
from gitguard.guard import Guard
from gitguard.review.why import Why, committed_line
from tests.conftest import Git, OpenGuard
from tests.support.conversation import Conversation
from tests.support.hostile import Traps
from tests.support.leaked_secrets import TOKEN


@pytest.fixture(autouse=True)
def _inside(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)


def commit(git: Git, name: str, text: str, message: str = "Change") -> str:
    (git.root / name).parent.mkdir(parents=True, exist_ok=True)
    (git.root / name).write_text(text)
    git("add", "--", name)
    git("commit", "--quiet", "--message", message)
    return git("rev-parse", "HEAD")


def decided(guard: Guard, what: str) -> None:
    guard.note({"decisions": [{"what": what, "why": "it is simpler"}]})
    guard.checkpoint("Decided.")


def shown(why: Why) -> list[str]:
    return [reason.item.text[0] for reason in why.reasons]


def test_a_line_leads_to_what_was_decided_while_its_commit_was_made(begun: Guard, git: Git) -> None:
    decided(begun, "Hand-written")
    first = commit(git, "src/parser.py", "one\ntwo\n", "Add the parser")
    begun.checkpoint("The parser is there.")
    decided(begun, "No regular expressions")
    begun.note({"failed_attempts": [{"what": "Reuse the table", "error": "41 differ"}]})
    second = commit(git, "src/parser.py", "one\n2\n", "Shorten it")
    begun.checkpoint("Shortened.")
    above, below = begun.review.why("src/parser.py:1"), begun.review.why("src/parser.py:2")
    assert [c.id for c in above.commits] == [first]
    assert shown(above) == ["Hand-written"]
    assert [(c.id, c.subject) for c in below.commits] == [(second, "Shorten it")]
    assert set(shown(below)) == {"No regular expressions", "Reuse the table"}
    assert "came up while" in below.reasons[0].because
    assert second[:7] in below.reasons[0].because
    assert set(shown(begun.review.why("src/parser.py"))) == {*shown(above), *shown(below)}


def test_a_commit_that_was_rebased_leads_to_what_was_decided_for_its_older_form(
    begun: Guard, git: Git
) -> None:
    base = commit(git, "base.py", "0\n")
    begun.checkpoint("Base.")
    git("switch", "--quiet", "--create", "topic")
    decided(begun, "Hand-written")
    old = commit(git, "parser.py", "one\n", "Add the parser")
    begun.checkpoint("The parser is there.")
    git("switch", "--quiet", "--create", "other", base)
    commit(git, "other.py", "1\n")
    git("cherry-pick", old)
    assert git("rev-parse", "HEAD") != old
    why = begun.review.why("parser.py")
    assert shown(why) == ["Hand-written"]
    assert why.unlinked == ()


def test_an_older_decision_counts_where_it_held_and_names_the_file(begun: Guard, git: Git) -> None:
    decided(begun, "parser.py stays free of dependencies")
    decided(begun, "lexer.py may have some")
    commit(git, "other.py", "1\n")
    begun.checkpoint("Other.")
    commit(git, "parser.py", "1\n")
    begun.checkpoint("Parser.")
    why = begun.review.why("parser.py")
    assert shown(why) == ["parser.py stays free of dependencies"]
    assert why.reasons[0].because.startswith("it held while")


def test_a_decision_that_was_dropped_before_does_not_count(begun: Guard, git: Git) -> None:
    decided(begun, "parser.py stays free of dependencies")
    begun.update({"decisions": []}, replace=True)
    begun.checkpoint("Dropped.")
    commit(git, "other.py", "1\n")
    begun.checkpoint("Other.")
    commit(git, "parser.py", "1\n")
    begun.checkpoint("Parser.")
    assert shown(begun.review.why("parser.py")) == []


def test_what_names_the_file_comes_first_and_the_request_after_it(tmp_path: Path) -> None:
    (tmp_path / "talk").mkdir()
    talk = Conversation(tmp_path / "talk")
    talk.prompt("Please write a parser without any dependency")
    for what in ("Hand-written", "parser.py has no state"):
        decided(talk.guard, what)
    (talk.root / "parser.py").write_text("1\n")
    talk.git("add", "parser.py")
    talk.git("commit", "--quiet", "--message", "Parser")
    talk.guard.checkpoint("Parser.")
    why = talk.guard.review.why(str(talk.root / "parser.py"))
    assert shown(why) == [
        "parser.py has no state",
        "Please write a parser without any dependency",
        "Hand-written",
    ]
    assert "the last that the user asked for" in why.reasons[1].because


def test_at_most_ten_are_shown_and_the_rest_counted(begun: Guard, git: Git) -> None:
    for number in range(12):
        decided(begun, f"Decision {number}")
    commit(git, "a.py", "1\n")
    begun.checkpoint("A.")
    why = begun.review.why("a.py")
    assert (len(why.reasons), why.left_out) == (10, 2)


def test_each_of_several_commits_between_two_checkpoints_leads_to_what_was_decided(
    begun: Guard, git: Git
) -> None:
    decided(begun, "Hand-written")
    commit(git, "a.py", "1\n")
    commit(git, "b.py", "1\n")
    begun.checkpoint("Both.")
    for name in ("a.py", "b.py"):
        assert shown(begun.review.why(name)) == ["Hand-written"], name


def test_a_commit_that_was_only_checked_out_was_not_made_then(begun: Guard, git: Git) -> None:
    git("checkout", "--quiet", "--orphan", "apart")
    commit(git, "a.py", "1\n")
    git("checkout", "--quiet", "main")
    begun.sessions.use(begun.sessions.find("main"))
    decided(begun, "Hand-written")
    git("checkout", "--quiet", "apart")
    begun.checkpoint("Looks at another branch.")
    assert begun.review.why("a.py").reasons == ()


def test_a_session_that_is_not_ours_counts_only_if_asked_for(
    begun: Guard, git: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    decided(begun, "Hand-written")
    commit(git, "a.py", "1\n")
    begun.checkpoint("A.")
    elsewhere = open_guard(state_home=str(tmp_path / "other-machine"))
    assert elsewhere.review.why("a.py").reasons == ()
    (reason,) = elsewhere.review.why("a.py", untrusted=True).reasons
    assert reason.item.is_ours is False


def test_a_subject_in_another_encoding_is_shown_as_its_author_wrote_it(
    begun: Guard, git: Git
) -> None:
    (git.root / "a.py").write_text("one\n")
    git("add", "a.py")
    git("config", "i18n.commitEncoding", "iso-8859-1")
    message = git.root / "message"
    message.write_bytes("Grüße".encode("iso-8859-1"))
    git("commit", "--quiet", "--file", str(message))
    (made,) = begun.review.why("a.py").commits
    assert made.subject == "Grüße"


def test_a_secret_in_a_subject_is_not_shown(begun: Guard, git: Git) -> None:
    commit(git, "a.py", "1\n", f"Use {TOKEN}")
    (blamed,) = begun.review.why("a.py").commits
    assert TOKEN not in blamed.subject


# Where there is nothing to say


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("README.md:9", "`README.md` has no line 9: it has 2"),
        ("README.md:0", "`0` is not a line of `README.md`"),
        ("README.md:2", "line 2 of `README.md` is not committed yet"),
        ("new.py", "`new.py` is not committed at HEAD as a plain file"),
        ("nothing.py", "there is no file `nothing.py`, neither here nor at HEAD"),
        ("src", "`src` is a folder"),
        (".", "`.` is a folder"),
        ("image.png", "`image.png` is a binary file, which has no lines"),
        ("link.md", "`link.md` is not committed at HEAD as a plain file"),
        ("../elsewhere", "`../elsewhere` is outside the worktree"),
        ("/etc/hostname", "`/etc/hostname` is outside the worktree"),
    ],
)
def test_what_cannot_be_asked_about_is_refused(
    begun: Guard, git: Git, target: str, message: str
) -> None:
    commit(git, "src/a.py", "1\n")
    (git.root / "image.png").write_bytes(b"\x89PNG\0")
    (git.root / "link.md").symlink_to("README.md")
    git("add", ".")
    git("commit", "--quiet", "--message", "More")
    (git.root / "new.py").write_text("1\n")
    (git.root / "README.md").write_text("# Example\nmore\n")
    with pytest.raises(InvalidInput) as caught:
        begun.review.why(target)
    assert caught.value.message.startswith(message)
    assert caught.value.hint


def test_nothing_committed_is_said(tmp_path: Path, open_guard: OpenGuard) -> None:
    root = tmp_path / "empty"
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    (root / "a.py").write_text("1\n")
    with pytest.raises(InvalidInput, match="nothing is committed"):
        open_guard(root).review.why("a.py")


def test_a_file_whose_name_ends_like_a_line_is_found(begun: Guard, git: Git) -> None:
    commit(git, "odd:7", "1\n")
    assert begun.review.why("odd:7").path == "odd:7"
    assert begun.review.why("odd:7:1").line == 1


def test_a_file_that_was_deleted_here_is_known_from_head(begun: Guard, git: Git) -> None:
    (git.root / "README.md").unlink()
    assert len(begun.review.why("README.md:1").commits) == 1


def test_a_line_is_found_again_after_lines_above_it_were_added(begun: Guard, git: Git) -> None:
    first = commit(git, "a.py", "one\ntwo\nthree\n")
    (git.root / "a.py").write_text("new\none\ntwo!\nthree\n")
    assert [c.id for c in begun.review.why("a.py:4").commits] == [first]


@pytest.mark.parametrize(
    ("before", "after", "places"),
    [
        ("a b c", "a b c", (1, 2, 3)),
        ("a b c", "x a b c", (None, 1, 2, 3)),
        ("a b c", "a x c", (1, None, 3)),
        ("a b c d", "a d", (1, 4)),
        ("a b c d e", "a x c y e", (1, None, 3, None, 5)),
        ("a", "", ()),
    ],
)
def test_lines_are_followed_to_the_committed_file(
    before: str, after: str, places: tuple[int | None, ...]
) -> None:
    old, new = ("".join(f"{word}\n" for word in text.split()) for text in (before, after))
    for line, place in enumerate(places, start=1):
        if place is None:
            with pytest.raises(InvalidInput, match="not committed yet"):
                committed_line(old.encode(), new.encode(), line, "a")
        else:
            assert committed_line(old.encode(), new.encode(), line, "a") == place


def test_line_ends_of_windows_are_no_change() -> None:
    assert committed_line(b"a\nb\n", b"a\r\nb\r\n", 2, "a") == 2


# How git is asked


@pytest.mark.parametrize("target", ["README.md", "README.md:1"])
def test_blame_runs_nothing_of_the_repository(
    begun: Guard, git: Git, tmp_path: Path, target: str
) -> None:
    traps = Traps(tmp_path / "traps")
    (git.root / "README.md").write_text("# Example\nchanged\n")
    traps.set_in(git)
    assert begun.review.why(target).commits
    assert traps.fired() == set()


def test_the_traps_would_fire_if_blame_were_not_told(git: Git, tmp_path: Path) -> None:
    traps = Traps(tmp_path / "traps")
    traps.set_in(git)
    git("blame", "HEAD", "--", "README.md", check=False)
    assert "diff.trap.textconv" in traps.fired()


def test_where_blame_fails_the_commits_that_changed_the_file_are_named(
    begun: Guard, git: Git
) -> None:
    git("config", "blame.ignoreRevsFile", "nothing")
    first, second = (commit(git, "a.py", text) for text in ("one\n", "one\ntwo\n"))
    why = begun.review.why("a.py:1")
    assert [(c.id, c.lines) for c in why.commits] == [(second, 0), (first, 0)]


ENDS: dict[str, Callable[[Git], object]] = {
    "packed": lambda git: git("gc", "--quiet"),
    "loose": lambda git: git("status"),
}


@pytest.mark.parametrize("kept", ENDS)
def test_nothing_is_changed(begun: Guard, git: Git, kept: str) -> None:
    decided(begun, "Hand-written")
    commit(git, "a.py", "1\n")
    begun.checkpoint("A.")
    ENDS[kept](git)
    before = git.traces()
    begun.review.why("a.py:1")
    assert git.traces() == before


def test_where_a_clone_is_shallow_lines_may_be_older(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    for text in ("one\n", "one\ntwo\n"):
        commit(git, "parser.py", text)
    clone = tmp_path / "clone"
    git("clone", "--quiet", "--depth=1", f"file://{git.root}", str(clone))
    why = open_guard(clone).review.why(f"{clone}/parser.py:1")
    assert any("shallow" in note for note in why.notes)
    assert not any("shallow" in note for note in begun.review.why("parser.py:1").notes)
