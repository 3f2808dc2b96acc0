"""Code commits and checkpoints find each other, whatever git did to the commits since."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitguard.errors import InvalidInput
from gitguard.guard import Guard
from gitguard.guard.review import JSON
from gitguard.review.authorship import CONTENT
from gitguard.review.piece import Link, Piece
from gitguard.store.session.workspace import Session, UserDirs
from tests.conftest import Git
from tests.support.secret_samples import some
from tests.support.session_branches import BRANCH, advance_from_elsewhere

from .at_work import Work, tmp_path, work

__all__ = ["tmp_path", "work"]


def damage(work: Work, object_id: str) -> None:
    """Overwrite an object with what is none."""
    path = work.root / ".git" / "objects" / object_id[:2] / object_id[2:]
    path.chmod(0o644)
    path.write_bytes(b"damaged")


def links_of(piece: Piece) -> dict[str, Link]:
    """Return the surest link of each commit, by the file that it is about."""
    links: dict[str, Link] = {}
    for link in piece.links:
        links.setdefault(link.commit.subject.removeprefix("Write "), link)
    return links


def certainties(piece: Piece) -> dict[str, str]:
    return {name: link.certainty for name, link in links_of(piece).items()}


def decided(guard: Guard, commit: str) -> list[str]:
    """Return what was decided while a commit was made."""
    known = guard.review.at(commit).knowledge
    assert [knowledge.problem for knowledge in known] == [""] * len(known)
    added = [c.added or c.after for k in known for c in k.changes if c.field == "decisions"]
    return [item["what"] for items in added for item in items]


def test_a_commit_that_a_checkpoint_names_is_linked_to_the_work_before_it(work: Work) -> None:
    base = work.git("rev-parse", "HEAD")
    first, second = work.step("a"), work.step("b")
    piece = work.guard.review.piece(f"{base}..HEAD")
    assert [commit.id for commit in piece.commits] == [first, second]
    assert certainties(piece) == {"a": CONTENT, "b": CONTENT}
    assert piece.unlinked == ()
    link = links_of(piece)["b"]
    assert (link.session, link.is_ours) == ("main", True)
    assert link.before == links_of(piece)["a"].after
    assert link.between[-1] == link.after
    assert link.after.code.head == second
    assert decided(work.guard, first) == ["About a"]
    assert decided(work.guard, second) == ["About b"]


def test_a_commit_on_a_branch_beside_does_not_claim_the_work_of_the_other(work: Work) -> None:
    work.git("branch", "beside")
    first = work.step("a")
    work.git("switch", "--quiet", "beside")
    work.guard.checkpoint("Back at the base")
    second = work.step("b")
    assert decided(work.guard, first) == ["About a"]
    assert decided(work.guard, second) == ["About b"]


def test_a_session_that_begins_at_a_squash_does_not_hide_the_work_in_it(
    work: Work, git: Git
) -> None:
    git("switch", "--quiet", "--create", "feature")
    work.step("a")
    work.step("b")
    git("switch", "--quiet", "main")
    git("merge", "--quiet", "--squash", "feature")
    git("commit", "--quiet", "--message", "Both")
    work.guard.sessions.use(Session.of("other"))
    piece = work.guard.review.piece("HEAD~..HEAD")
    assert [(link.session, link.certainty) for link in piece.links] == [("main", CONTENT)]
    assert decided(work.guard, "HEAD") == ["About a", "About b"]


def test_a_rebase_keeps_the_links(work: Work) -> None:
    work.git("switch", "--quiet", "--create", "feature")
    work.step("a")
    work.step("b")
    work.git("switch", "--quiet", "main")
    work.commit("elsewhere")
    work.git("switch", "--quiet", "feature")
    work.git("rebase", "--quiet", "main")
    piece = work.guard.review.piece("main..feature")
    assert certainties(piece) == {"a": CONTENT, "b": CONTENT}
    assert "it has the content that `a` got" in links_of(piece)["a"].reason
    assert decided(work.guard, "feature~1") == ["About a"]
    assert decided(work.guard, "feature") == ["About b"]


def test_an_amended_message_leaves_the_same_content(work: Work) -> None:
    work.step("a")
    work.git("commit", "--quiet", "--amend", "--message", "Say it better")
    (link,) = work.guard.review.piece("HEAD~1..HEAD").links
    assert link.certainty == CONTENT
    assert decided(work.guard, "HEAD") == ["About a"]


def test_a_commit_whose_content_was_all_replaced_gets_no_words(work: Work) -> None:
    work.step("a")
    (work.root / "a").write_text("quite another content\n", encoding="utf-8")
    work.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    piece = work.guard.review.piece("HEAD~1..HEAD")
    assert [commit.subject for commit in piece.unlinked] == ["Write a"]


def test_a_cherry_picked_commit_is_linked_in_its_new_place(work: Work) -> None:
    work.git("switch", "--quiet", "--create", "feature")
    work.step("a")
    picked = work.step("b")
    work.git("switch", "--quiet", "main")
    work.commit("elsewhere")
    work.git("cherry-pick", picked)
    piece = work.guard.review.piece("HEAD~1..HEAD")
    assert certainties(piece) == {"b": CONTENT}
    assert decided(work.guard, "HEAD") == ["About b"]


def test_a_squash_is_linked_to_the_work_of_all_its_commits(work: Work) -> None:
    work.git("switch", "--quiet", "--create", "feature")
    work.step("a")
    work.step("b")
    work.step("c")
    work.git("switch", "--quiet", "main")
    work.commit("elsewhere")
    work.git("merge", "--quiet", "--squash", "feature")
    work.git("commit", "--quiet", "--message", "Write all")
    work.git("branch", "--delete", "--force", "feature")
    (link,) = work.guard.review.piece("HEAD~1..HEAD").links
    assert link.certainty == CONTENT
    assert "`a` and 2 more" in link.reason
    assert decided(work.guard, "HEAD") == ["About a", "About b", "About c"]


def test_a_squash_of_a_branch_that_took_in_main_is_linked(work: Work) -> None:
    work.git("switch", "--quiet", "--create", "feature")
    work.step("a")
    work.git("switch", "--quiet", "main")
    work.commit("elsewhere")
    work.git("switch", "--quiet", "feature")
    work.git("merge", "--quiet", "--no-edit", "main")
    work.guard.checkpoint("Merged")
    work.step("b")
    work.git("switch", "--quiet", "main")
    work.git("merge", "--quiet", "--squash", "feature")
    work.git("commit", "--quiet", "--message", "Write all")
    assert decided(work.guard, "HEAD") == ["About a", "About b"]


def test_commits_that_were_squashed_within_a_rebased_branch_are_linked(work: Work) -> None:
    work.git("switch", "--quiet", "--create", "feature")
    work.step("a")
    work.step("b")
    work.step("c")
    work.git("switch", "--quiet", "main")
    work.commit("elsewhere")
    work.git("rebase", "--quiet", "main", "feature")
    work.git("reset", "--quiet", "--soft", "HEAD~2")
    work.git("commit", "--quiet", "--message", "Write b and c")
    piece = work.guard.review.piece("main..feature")
    assert certainties(piece) == {"a": CONTENT, "b and c": CONTENT}
    assert decided(work.guard, "feature") == ["About b", "About c"]


def test_the_session_of_a_deleted_branch_is_found(work: Work) -> None:
    work.git("switch", "--quiet", "--create", "feature")
    work.guard.sessions.use(Session.of("feature"))
    work.step("a")
    work.git("switch", "--quiet", "main")
    work.commit("elsewhere")
    work.git("cherry-pick", "feature")
    work.git("branch", "--quiet", "--delete", "--force", "feature")
    work.guard.sessions.close(Session.of("feature"))
    (link,) = work.guard.review.piece("HEAD~1..HEAD").links
    assert (link.session, link.certainty, link.is_ours) == ("feature", CONTENT, True)
    assert decided(work.guard, "HEAD") == ["About a"]


def test_a_session_whose_own_branch_was_deleted_is_found(work: Work) -> None:
    work.step("a")
    work.git("update-ref", "-d", BRANCH)
    (link,) = work.guard.review.piece("HEAD~1..HEAD").links
    assert (link.certainty, link.is_ours) == (CONTENT, True)


def test_a_session_that_begins_at_a_commit_did_not_write_it(work: Work) -> None:
    commit = work.step("a")
    work.guard.sessions.use(Session.of("other"))
    work.decide("Here is where the other one begins")
    links = work.guard.review.piece("HEAD~1..HEAD").links
    assert [link.session for link in links] == ["main"]
    assert decided(work.guard, commit) == ["About a"]
    second = work.step("b")
    (link,) = work.guard.review.piece(f"{commit}..{second}").links
    assert link.session == "other"


def test_what_another_machine_wrote_is_linked_and_marked(
    work: Work, tmp_path: Path, elsewhere: UserDirs
) -> None:
    work.step("a")
    clone = tmp_path / "clone"
    work.git("clone", "--quiet", ".", str(clone))
    theirs = Guard(str(clone), elsewhere, work.guard.clock)
    piece = theirs.review.piece("HEAD~1..HEAD")
    assert [(link.session, link.certainty, link.is_ours) for link in piece.links] == [
        ("main", CONTENT, False)
    ]
    assert any("This machine cannot verify `main`." in note for note in piece.notes)


def test_what_another_machine_put_on_top_of_ours_is_not_read(
    work: Work, tmp_path: Path, elsewhere: UserDirs
) -> None:
    ours = work.step("a")
    advance_from_elsewhere(work.guard, work.git, tmp_path, elsewhere)
    work.commit("b")
    clone = tmp_path / "clone"
    work.git.at(clone)("pull", "--quiet", "origin", "main")
    theirs = Guard(str(clone), elsewhere, work.guard.clock)
    theirs.note({"decisions": [{"what": "Theirs", "why": "They can"}]})
    theirs.checkpoint("After b")
    work.git("fetch", "--quiet", str(clone), f"{BRANCH}:{BRANCH}")
    piece = work.guard.review.piece(f"{ours}~1..HEAD")
    assert {link.commit.subject: link.is_ours for link in piece.links} == {"Write a": True}
    assert any("which this machine did not write" in note for note in piece.notes)


def test_a_shallow_clone_says_so(work: Work, tmp_path: Path, elsewhere: UserDirs) -> None:
    work.step("a")
    work.step("b")
    clone = tmp_path / "clone"
    work.git(
        "clone", "--quiet", "--depth=2", "--no-single-branch", f"file://{work.root}", str(clone)
    )
    theirs = Guard(str(clone), elsewhere, work.guard.clock)
    piece = theirs.review.piece("HEAD~1..HEAD")
    assert certainties(piece) == {"b": CONTENT}
    moment = theirs.review.at("HEAD~1")
    assert any("shallow" in note for note in moment.notes)
    assert moment.commit.paths == ()


def test_what_a_merge_takes_in_other_commits_hold(work: Work) -> None:
    base = work.git("rev-parse", "HEAD")
    work.git("switch", "--quiet", "--create", "feature")
    work.step("a")
    work.git("switch", "--quiet", "main")
    work.step("b")
    work.git("merge", "--quiet", "--no-ff", "--message", "Write merge", "feature")
    work.decide("Merged")
    piece = work.guard.review.piece(f"{base}..HEAD")
    assert [path.path for path in piece.commits[-1].paths] == ["a"]
    assert certainties(piece) == {"a": CONTENT, "b": CONTENT}
    assert decided(work.guard, "HEAD") == []


def test_no_checkpoints_leave_all_commits_unlinked(guard: Guard, git: Git) -> None:
    work = Work(guard, git)
    commit = work.commit("a")
    piece = guard.review.piece("HEAD~1..HEAD")
    assert [change.id for change in piece.unlinked] == [commit]
    assert piece.notes == ("No session of this repository has a checkpoint.",)


def test_a_branch_without_a_session_leaves_its_commits_unlinked(work: Work) -> None:
    work.step("a")
    work.git("switch", "--quiet", "--create", "unattended")
    commit = work.commit("b")
    assert [change.id for change in work.guard.review.piece("main..").unlinked] == [commit]


def test_a_damaged_checkpoint_is_named_and_the_others_stay_linked(work: Work) -> None:
    base = work.git("rev-parse", "HEAD")
    for name in "abcd":
        work.step(name)
    damaged = links_of(work.guard.review.piece(f"{base}..HEAD"))["b"].between[0]
    damage(work, damaged.id)
    piece = work.guard.review.piece(f"{base}..HEAD")
    assert certainties(piece) == dict.fromkeys("acd", CONTENT)
    assert any(damaged.id[:12] in note for note in piece.notes)


def test_what_was_new_behind_a_damaged_checkpoint_is_said_to_be_unknown(work: Work) -> None:
    base = work.git("rev-parse", "HEAD")
    for name in "abcd":
        work.step(name)
    damage(work, links_of(work.guard.review.piece(f"{base}..HEAD"))["b"].between[0].id)
    rows = {row.commit.subject: row for row in work.guard.review.course(f"{base}..HEAD").rows}
    assert rows["Write b"].link is None
    assert rows["Write c"].added == ("1 decision",)
    assert work.guard.review.at("HEAD~2").knowledge == ()


def test_a_report_credits_nothing_from_before_a_damaged_checkpoint_to_the_work(work: Work) -> None:
    base = work.git("rev-parse", "HEAD")
    for name in "abcd":
        work.step(name)
    damage(work, links_of(work.guard.review.piece(f"{base}..HEAD"))["b"].between[0].id)
    report = json.loads(work.guard.review.report(f"{base}..HEAD", JSON))
    decisions = {e["text"]: e["inherited"] for e in report["entries"] if e["field"] == "decisions"}
    expected = {"About a": True, "About b": True, "About c": False, "About d": False}
    assert decisions == expected
    assert any("cannot be read" in note for note in report["notes"])


def test_a_state_that_does_not_read_is_told_and_the_link_stays(work: Work) -> None:
    work.step("a")
    (link,) = work.guard.review.piece("HEAD~1..HEAD").links
    blob = work.git("rev-parse", f"{link.after.id}:state.json")
    damage(work, blob)
    (knowledge,) = work.guard.review.at("HEAD").knowledge
    assert (knowledge.link, knowledge.state) == (link, None)
    assert blob in knowledge.problem


ODD = ("two words", "🦀.rs", "\u202eright-to-left", "line\nfeed\ttab", "-n", "größe")


@pytest.mark.parametrize("name", ODD)
def test_odd_names_of_files_are_what_they_are(work: Work, name: str) -> None:
    work.step(name, message="Write it")
    (link,) = work.guard.review.piece("HEAD~1..HEAD").links
    assert [path.path for path in link.commit.paths] == [name]


def test_a_subject_has_one_line_and_no_secret(work: Work) -> None:
    secret = "ghp_" + some(36)
    work.step("a", message=f"Use \x1b[31m\u202e{secret}\nand go on")
    commit = work.guard.review.at("HEAD").commit
    assert secret not in commit.subject
    assert commit.subject.isprintable()
    assert commit.subject.startswith("Use ")


@pytest.mark.parametrize("revision", ["nowhere", "--all", "", "HEAD\nHEAD", "HEAD:README.md"])
def test_what_names_no_commit_is_refused(work: Work, revision: str) -> None:
    with pytest.raises(InvalidInput, match="names no commit"):
        work.guard.review.at(revision)


def test_ranges_are_what_git_takes_for_them(work: Work) -> None:
    first = work.git("rev-parse", "HEAD")
    work.git("switch", "--quiet", "--create", "feature")
    work.step("a")
    work.git("switch", "--quiet", "main")
    work.commit("b")
    work.git("switch", "--quiet", "feature")
    review = work.guard.review
    for text in ("main..feature", "main..", "main", "", "main...feature", "main...", f"{first}.."):
        assert [c.subject for c in review.piece(text).commits] == ["Write a"], text
    assert review.piece("main...feature").base == first
    assert [c.subject for c in review.piece("..main").commits] == ["Write b"]
    empty = review.piece("HEAD..HEAD")
    assert empty.commits == ()
    assert "The range is empty: it begins and ends at" in empty.notes[0]
