"""Searching finds what any session of this machine ever held, best and newest first."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.errors import InvalidInput
from gitguard.guard import Guard
from gitguard.review.search import Results
from gitguard.review.words import folded, read_words
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Clock, Git, OpenGuard
from tests.support.kept_sessions import at, close_it
from tests.support.leaked_secrets import TOKEN, leaked, tmp_path
from tests.support.session_branches import BRANCH

__all__ = ["leaked", "tmp_path"]


def results_of(guard: Guard, *words: str, **options: object) -> Results:
    return guard.review.search(words, **options)  # type: ignore[arg-type]


def texts(results: Results) -> list[str]:
    return [match.text[0] for match in results.matches]


def decided(guard: Guard, *whats: str) -> None:
    for what in whats:
        guard.note({"decisions": [{"what": what, "why": "it is simpler"}]})
        guard.checkpoint(f"After {len(what)} letters.")


@pytest.mark.parametrize(
    ("note", "field", "word"),
    [
        ({"decisions": [{"what": "Hand-written", "why": "a dependency"}]}, "decision", "DEPEND"),
        ({"failed_attempts": [{"what": "Reuse it", "error": "41 differ"}]}, "failure", "41 diff"),
        ({"learnings": ["The lexer is slow"]}, "learning", "lexer"),
        ({"open_issues": ["Nobody tested it"]}, "issue", "tested"),
        ({"blockers": ["No access"]}, "issue", "access"),
        ({"goal": "Port the parser"}, "summary", "parser"),
        ({"next_action": "Write the tokenizer"}, "summary", "tokenizer"),
        ({"constraints": ["Python 3.9 must run it"]}, "summary", "3.9"),
    ],
)
def test_each_field_is_found_under_its_name(
    begun: Guard, note: dict[str, object], field: str, word: str
) -> None:
    begun.note(note)
    begun.checkpoint("Looks.")
    (match,) = results_of(begun, word).matches
    assert (match.field, match.session, match.holds, match.by) == (field, "main", True, "agent")
    assert results_of(begun, word, fields=(field,)).count == 1
    assert results_of(begun, word, fields=("message",)).count == 0


def test_the_message_of_a_checkpoint_is_found_with_the_checkpoint(begun: Guard) -> None:
    begun.checkpoint("Before the big refactoring")
    (match,) = results_of(begun, "big refactoring").matches
    newest = begun.log(1)[0]
    assert (match.checkpoint, match.commit) == (newest.name, newest.id)
    assert (match.field, match.kind, match.holds) == ("message", "checkpoint", None)


def test_a_phrase_comes_before_all_words_and_they_before_some_each_newest_first(
    begun: Guard, clock: Clock
) -> None:
    for what in ("limit of a rate", "rate limit one", "only a rate", "rate limit two"):
        decided(begun, what)
        clock.advance(60)
    results = results_of(begun, "rate", "limit")
    assert texts(results) == ["rate limit two", "rate limit one", "limit of a rate", "only a rate"]
    assert [m.match for m in results.matches] == ["phrase", "phrase", "all words", "some words"]


def test_a_quoted_phrase_counts_as_one_word(begun: Guard) -> None:
    decided(begun, "rate limit one", "limit of a rate")
    assert texts(results_of(begun, "rate limit")) == ["rate limit one"]
    assert texts(results_of(begun, '"rate limit" one')) == ["rate limit one"]


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Straße 12", "STRASSE"),
        ("Caf\u00e9", "cafe\u0301"),
        ("ＡＰＩ", "api"),
        ("İstanbul", "i̇stanbul"),
    ],
)
def test_words_are_compared_folded(begun: Guard, written: str, asked: str) -> None:
    decided(begun, written)
    assert texts(results_of(begun, asked)) == [written]


def test_words_over_several_lines_are_one_phrase_and_are_shown_as_they_were_written(
    begun: Guard,
) -> None:
    begun.note({"learnings": ["first\n  second \u201cthird\u201d"]})
    begun.checkpoint("Looks.")
    (match,) = results_of(begun, "first second", fields=("learning",)).matches
    assert match.text == ("first\n  second \u201cthird\u201d",)


def test_what_is_gone_is_found_with_the_checkpoint_from_which_on_it_is_gone(begun: Guard) -> None:
    begun.note({"open_issues": ["Nobody tested it"]})
    begun.checkpoint("Has it.")
    begun.update({"open_issues": []}, replace=True)
    begun.checkpoint("Has it no more.")
    (match,) = results_of(begun, "tested").matches
    assert (match.holds, match.removed) == (False, begun.log(1)[0].name)


def test_a_decision_is_found_once_however_many_checkpoints_hold_it(begun: Guard) -> None:
    decided(begun, "Hand-written")
    first = begun.log(1)[0].name
    for number in range(5):
        begun.checkpoint(f"Number {number}.")
    (match,) = results_of(begun, "hand-written").matches
    assert match.checkpoint <= first


def test_what_went_and_came_back_holds(begun: Guard) -> None:
    decided(begun, "Hand-written")
    name = begun.log(1)[0].name
    begun.update({"decisions": []}, replace=True)
    begun.checkpoint("Without.")
    assert results_of(begun, "hand-written").matches[0].holds is False
    begun.restore(name)
    assert results_of(begun, "hand-written").matches[0].holds is True


def test_all_sessions_and_archives_are_searched_or_the_one_that_is_named(guard: Guard) -> None:
    for key in ("main", "other", "third"):
        at(guard, key)
    guard.sessions.use(guard.sessions.find("main"))
    close_it(guard, "third")
    results = results_of(guard, "nothing is lost")
    assert {(m.session, m.archived) for m in results.matches} == {
        ("main", False),
        ("other", False),
        ("third", True),
    }
    for key in ("other", "third"):
        assert {m.session for m in results_of(guard, "lost", session=key).matches} == {key}
    with pytest.raises(InvalidInput, match="there is no session `fourth`"):
        results_of(guard, "lost", session="fourth")


def test_what_is_not_shown_is_counted(begun: Guard) -> None:
    decided(begun, *(f"rate {n}" for n in range(5)))
    results = results_of(begun, "rate", most=2)
    assert texts(results) == ["rate 4", "rate 3"]
    assert results.count == 5


def test_since_leaves_out_what_is_older(begun: Guard, clock: Clock) -> None:
    decided(begun, "rate one")
    clock.advance(3 * 86400)
    decided(begun, "rate two")
    assert texts(results_of(begun, "rate", since="2d")) == ["rate two"]
    assert results_of(begun, "rate", since="1w").count == 2


@pytest.mark.parametrize("words", [("",), ("  ",), ('""',)])
def test_no_word_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="names no word"):
        read_words(words)


def test_folded_text_is_one_line_without_tabs() -> None:
    assert folded("A\tb\n\u2028 \u0130\x1c") == "a b i\u0307"


# Whose it is


@pytest.fixture
def cloned(begun: Guard, git: Git, tmp_path: Path, places: UserDirs) -> Guard:
    """Another machine, which has the branch and does not trust it."""
    decided(begun, "Hand-written")
    git("clone", "--quiet", ".", str(tmp_path / "clone"))
    elsewhere = places.replace(state_home=str(tmp_path / "other-machine"))
    git.at(tmp_path / "clone")("branch", "--quiet", "gitguard/main", "origin/gitguard/main")
    return Guard(str(tmp_path / "clone"), elsewhere, begun.clock)


def test_what_this_machine_did_not_write_is_left_out_with_a_note(cloned: Guard) -> None:
    results = results_of(cloned, "hand-written")
    assert results.count == 0
    assert "session `main` was not searched: " in results.notes[0]


def test_asked_for_it_is_found_and_marked_and_nothing_of_it_is_kept(
    cloned: Guard, tmp_path: Path
) -> None:
    (match,) = results_of(cloned, "hand-written", untrusted=True).matches
    assert match.is_ours is False
    assert not list((tmp_path / "other-machine").rglob("search.*"))


def test_a_session_that_only_a_remote_has_is_found_if_asked_for(
    cloned: Guard, git: Git, tmp_path: Path
) -> None:
    git.at(tmp_path / "clone")("update-ref", "-d", BRANCH)
    assert results_of(cloned, "hand-written").count == 0
    assert results_of(cloned, "hand-written", untrusted=True).count == 1


def test_a_foreign_secret_is_not_shown(leaked: Guard, git: Git, tmp_path: Path) -> None:
    git("clone", "--quiet", ".", str(tmp_path / "clone"))
    elsewhere = leaked.workspace.places.replace(state_home=str(tmp_path / "other-machine"))
    clone = Guard(str(tmp_path / "clone"), elsewhere, leaked.clock)
    for match in results_of(clone, "deploy with", untrusted=True).matches:
        assert TOKEN not in match.text[0]
        assert "[REDACTED:" in match.text[0]


def test_beside_a_moved_branch_what_this_machine_wrote_is_searched(
    guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    at(guard, "other")
    at(guard, "main")
    git("update-ref", BRANCH, f"{BRANCH}~1")
    results = results_of(open_guard(), "nothing is lost")
    assert {match.session for match in results.matches} == {"main", "other"}
    assert len(results.notes) == 1


def test_what_is_newer_than_a_damaged_checkpoint_is_found_and_the_damage_is_told(
    begun: Guard, git: Git
) -> None:
    decided(begun, "First words", "Second words", "Third words")
    head = git("rev-parse", BRANCH)
    damaged = git("rev-parse", f"{BRANCH}~2")
    path = git.root / ".git" / "objects" / damaged[:2] / damaged[2:]
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    results = results_of(begun, "words", fields=("decision",))
    assert set(texts(results)) == {"Third words", "Second words", "First words"}
    assert results.unread == 1
    assert any(damaged[:12] in note for note in results.notes)
    assert results_of(begun, "nowhere").unread == 1
    assert git("rev-parse", BRANCH) == head
