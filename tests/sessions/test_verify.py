"""`gitguard verify`: a whole history, everything that is wrong with it, and each way out."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from gitguard.errors import Tampered, Untrusted
from gitguard.guard import Guard
from gitguard.sessions.verification import HistoryFinding, VerificationReport, problem_of
from gitguard.store.session import chain_check
from gitguard.store.session.current import current_session
from gitguard.store.session.workspace import Session
from tests.conftest import Git, OpenGuard, start_guard
from tests.support.scratch import make_repository, shell
from tests.support.session_files import own_file
from tests.support.staged import staged
from tests.support.tampered_sessions import (
    BRANCH,
    EDITS,
    OURS,
    UNFIT,
    exchange,
    file_of,
    rewritten,
)


def begin(folder: Path) -> None:
    guard = start_guard(folder)
    for number in range(2, 6):
        guard.note({"current_phase": f"Phase {number}"})
    assert [c.sequence for c in guard.log()] == [5, 4, 3, 2, 1]


tmp_path = staged(begun=begin)


@pytest.fixture
def begun(guard: Guard) -> Guard:
    """Five checkpoints, each with a state of its own."""
    return guard


def verified(guard: Guard, *, every_session: bool = False) -> VerificationReport:
    (report,) = guard.verify(every_session=every_session)
    return report


def said(report: VerificationReport) -> str:
    return "\n".join(report.lines)


def with_tree(tree: str, body: str) -> str:
    return f"tree {tree}\n" + body.partition("\n")[2]


@pytest.mark.parametrize("packed", [True, False])
def test_a_sound_history_has_no_findings(begun: Guard, git: Git, *, packed: bool) -> None:
    if packed:
        git("gc", "--quiet", "--prune=now")
    report = verified(begun)
    assert (report.checkpoints, report.findings, report.notes) == (5, (), ())
    assert report.standing == "ours"
    assert problem_of([report]) is None


def test_a_session_without_a_checkpoint_is_no_finding(guard: Guard, git: Git) -> None:
    guard.ensure()
    git("update-ref", "-d", BRANCH)
    guard.forget()
    report = verified(guard)
    assert (report.checkpoints, report.findings) == (0, ())
    assert "no checkpoint yet" in said(report)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("kind", OURS)
def test_each_damage_is_found_where_it_is(begun: Guard, git: Git, kind: str, edit: str) -> None:
    commit = git("rev-parse", f"{BRANCH}~2")
    damaged = git("rev-parse", f"{BRANCH}~2{OURS[kind]}")
    EDITS[edit](file_of(git.root, damaged))
    report = verified(begun)
    (finding,) = report.findings
    assert finding.commit == commit
    assert damaged in finding.problem
    assert "gitguard session fork" in finding.way_out
    assert finding.checkpoint == ("" if kind == "commit" else "cp_003")
    assert report.checkpoints == (3 if kind == "commit" else 5)
    problem = problem_of([report])
    assert problem is not None
    assert problem.exit_code == Tampered.exit_code


def test_one_finding_does_not_end_the_walk(begun: Guard, git: Git) -> None:
    for depth, kind in ((0, "state"), (1, "snapshot"), (3, "tree")):
        exchange(file_of(git.root, git("rev-parse", f"{BRANCH}~{depth}{OURS[kind]}")))
    assert [f.checkpoint for f in verified(begun).findings] == ["cp_005", "cp_004", "cp_002"]


@pytest.mark.parametrize("unfit", UNFIT)
def test_a_history_that_does_not_fit_together_is_found(begun: Guard, git: Git, unfit: str) -> None:
    change, error, words = UNFIT[unfit]
    ours, forged = git("rev-parse", BRANCH), rewritten(git, f"{BRANCH}~2", change)
    git("update-ref", BRANCH, forged)
    anchor = json.loads(own_file(begun, "anchor.json").read_text())
    own_file(begun, "anchor.json").write_text(json.dumps(anchor | {"committed": forged}))
    report = verified(begun)
    assert any(words in finding.problem for finding in report.findings)
    assert error.exit_code in {finding.exit_code for finding in report.findings}
    assert ours


def test_a_moved_branch_is_found_and_both_histories_are_looked_at(begun: Guard, git: Git) -> None:
    exchange(file_of(git.root, git("rev-parse", f"{BRANCH}:state.json")))
    git("update-ref", BRANCH, git("rev-parse", f"{BRANCH}~1"))
    report = verified(begun)
    assert report.standing == "moved"
    assert ["does not follow" in f.problem for f in report.findings] == [True, False]
    assert report.findings[1].checkpoint == "cp_005"


def test_a_branch_of_somebody_else_is_verified_and_untrusted(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    theirs = open_guard(state_home=str(tmp_path / "other-machine"))
    report = verified(theirs)
    assert report.checkpoints == 5
    assert [finding.exit_code for finding in report.findings] == [Untrusted.exit_code]


def test_replacements_grafts_and_links_are_findings_with_their_ways_out(
    begun: Guard, git: Git
) -> None:
    newest, older, tree = git("rev-parse", BRANCH, f"{BRANCH}~1", f"{BRANCH}~2^{{tree}}").split()
    git("update-ref", f"refs/replace/{tree}", git("rev-parse", f"{BRANCH}~3^{{tree}}"))
    assert f"git replace -d {tree}" in said(verified(begun))
    git("replace", "-d", tree)
    (git.root / ".git/info/grafts").write_text(f"{older}\n")
    assert "info/grafts" in said(verified(begun))
    (git.root / ".git/info/grafts").unlink()
    git("symbolic-ref", BRANCH, "refs/heads/main")
    report = verified(begun)
    assert report.checkpoints == 5
    assert "symbolic-ref -d" in said(report)
    git("symbolic-ref", "-d", BRANCH)
    assert "is gone" in said(report := verified(begun))
    assert report.checkpoints == 5
    git("update-ref", BRANCH, newest)
    git("update-ref", f"refs/replace/{newest}", older)
    assert f"git replace -d {newest}" in said(verified(begun))


def test_what_shadows_the_name_and_cuts_the_view_is_noted_and_wrong_with_nothing(
    begun: Guard, git: Git
) -> None:
    git("tag", "gitguard/main", "HEAD")
    (git.root / ".git" / "shallow").write_text(git("rev-parse", f"{BRANCH}~2") + "\n")
    report = verified(begun)
    assert report.findings == ()
    assert any("refs/tags/gitguard/main" in note for note in report.notes)
    assert any("only from cp_003 on" in note for note in report.notes)
    assert report.checkpoints == 5


def test_a_shallow_history_ends_and_says_so(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    clone = tmp_path / "clone"
    git("clone", "--quiet", "--depth=2", "--no-single-branch", f"file://{git.root}", str(clone))
    theirs = open_guard(clone, state_home=str(tmp_path / "other-machine"))
    theirs.trust()
    report = verified(theirs)
    assert (report.checkpoints, report.findings) == (2, ())
    assert "the history ends at cp_004" in said(report)


def test_a_state_that_is_none_or_of_another_session_is_found(begun: Guard, git: Git) -> None:
    state = git("show", f"{BRANCH}:state.json")
    for text, words in (
        ("no JSON", "not valid JSON"),
        (state.replace('"session_id": "main"', '"session_id": "other"'), "session `other`"),
        (state.replace('"goal": "START"', '"goal": 5'), "goal"),
        (state.replace('"learnings": []', '"learnings": [5]'), "learnings"),
    ):
        blob = git("hash-object", "-w", "--stdin", stdin=text + "\n")
        listed = git("ls-tree", BRANCH).replace(git("rev-parse", f"{BRANCH}:state.json"), blob)
        tree = git("mktree", stdin=listed + "\n")
        forged = rewritten(git, BRANCH, partial(with_tree, tree))
        anchor = json.loads(own_file(begun, "anchor.json").read_text())
        changed = {"committed": forged, "state_sha256": ""}
        git("update-ref", BRANCH, forged)
        own_file(begun, "anchor.json").write_text(json.dumps(anchor | changed))
        (finding,) = verified(begun).findings
        assert words in finding.problem
        assert finding.checkpoint == "cp_005"


def test_what_is_kept_aside_is_looked_at_and_only_noted(begun: Guard, git: Git) -> None:
    forged = rewritten(git, f"{BRANCH}~1", UNFIT["a gap in the numbers"][0])
    git("update-ref", BRANCH, forged)
    begun.archive_theirs()
    report = verified(begun)
    assert report.findings == ()
    assert any("refs/gitguard/archive/main/" in note for note in report.notes)


def test_every_session_is_verified_when_asked(begun: Guard, git: Git) -> None:
    begun.sessions.fork(Session.of("Other Key"))
    name = current_session(begun.workspace).name
    exchange(file_of(git.root, git("rev-parse", f"refs/heads/gitguard/{name}:summary.md")))
    reports = begun.verify(every_session=True)
    assert {report.session: len(report.findings) for report in reports} == {
        "main": 0,
        "Other Key": 1,
    }
    assert not [f for report in begun.verify() if report.session == "main" for f in report.findings]


def test_a_long_history_is_read_in_parts_and_told_of(
    guard: Guard, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain_check, "_AT_ONCE", 3)
    guard.ensure()
    for number in range(10):
        guard.note({"current_phase": f"Phase {number}"})
    git("gc", "--quiet", "--prune=now")
    assert verified(guard).checkpoints == 11
    assert verified(guard).findings == ()


def test_of_several_codes_the_gravest_is_the_commands() -> None:
    codes = [Untrusted.exit_code, Tampered.exit_code]
    findings = tuple(HistoryFinding("", "", "x", "y", code) for code in codes)
    problem = problem_of([VerificationReport("main", BRANCH, "ours", 1, findings)])
    assert problem is not None
    assert problem.exit_code == Tampered.exit_code


def test_the_command_prints_findings_and_ends_with_their_code(tmp_path: Path) -> None:
    root, home = tmp_path / "repo", tmp_path / "home"
    make_repository(root, home)
    shell("gitguard ensure && gitguard note --goal A && gitguard note --goal B", root, home)
    assert shell("gitguard verify; echo $?", root, home).endswith("nothing is wrong\n0\n")
    blob = shell("git rev-parse gitguard/main:summary.md", root, home).strip()
    exchange(file_of(root, blob))
    told = shell("gitguard verify --all; echo $?", root, home)
    assert f"object {blob} does not have the content of its id" in told
    assert told.endswith(f"{Tampered.exit_code}\n")
    document = json.loads(shell("gitguard verify --json", root, home))
    assert document["sessions"][0]["findings"][0]["way_out"]
    assert document["error"]["exit_code"] == Tampered.exit_code
