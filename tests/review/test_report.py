"""The report: what a reviewer asks of a long piece of work, it answers."""

from __future__ import annotations

import json
import re
import statistics
import tracemalloc
from pathlib import Path

import jsonschema
import pytest

from gitguard.errors import InvalidConfig, InvalidInput
from gitguard.guard import Guard
from gitguard.guard.review import REPORT_FORMATS
from gitguard.model.text import visible
from gitguard.review.gathering import gather, web_address
from gitguard.review.markdown import USUAL
from gitguard.review.report import LIMITS, OUTSIDE, SHELL, TOOLS
from tests.conftest import Git, OpenGuard, start_guard
from tests.generating.report_schema import report_schema
from tests.support.command_place import Place
from tests.support.staged import staged

from . import planted, rendered


def _write(folder: Path) -> None:
    guard = start_guard(folder)
    planted.write(planted.history(1), guard, Git(folder / "repo"))


tmp_path = staged(written=_write)


@pytest.fixture
def written(guard: Guard, git: Git) -> planted.Written:
    base, *_, head = git("rev-list", "--reverse", "main").splitlines()
    return planted.Written(base, head, guard)


def test_the_markdown_alone_answers_nine_of_ten_questions(written: planted.Written) -> None:
    page = written.guard.review.report(written.range, "markdown")
    blocks = rendered.Page(rendered.html_of(page)).blocks
    unanswered = set(planted.QUESTIONS) - set(planted.answered(blocks))
    assert len(unanswered) <= 1, unanswered


def test_the_html_alone_answers_all_ten_questions(written: planted.Written) -> None:
    page = written.guard.review.report(written.range, "html")
    assert planted.answered(rendered.Page(page).blocks) == list(planted.QUESTIONS)


def test_the_json_is_as_its_schema_says(written: planted.Written) -> None:
    schema = report_schema()
    document = json.loads(written.guard.review.report(written.range, "json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    assert set(document) == set(schema["properties"])
    assert len(document["commits"]) == 30


@pytest.mark.parametrize("form", REPORT_FORMATS)
def test_the_same_work_gives_the_same_bytes(written: planted.Written, form: str) -> None:
    page = written.guard.review.report(written.range, form)
    assert written.guard.review.report(written.range, form) == page


def test_a_usual_report_has_at_most_eight_kilobytes(
    open_guard: OpenGuard, git: Git, tmp_path: Path
) -> None:
    sizes = []
    for seed, checkpoints in enumerate((12, 80, 120)):
        guard = open_guard(state_home=str(tmp_path / f"state-{seed}"), session=f"s{seed}")
        work = planted.history(seed, checkpoints // 4, checkpoints)
        written = planted.write(work, guard, git)
        sizes.append(len(guard.review.report(written.range).encode()))
    assert statistics.median(sizes) <= USUAL, sizes


def test_what_a_report_names_a_reader_can_open(written: planted.Written, git: Git) -> None:
    git("remote", "add", "origin", "git@code.example:acme/mirror.git")
    git("update-ref", "refs/remotes/origin/main", written.head)
    page = written.guard.review.report(written.range)
    read = rendered.Page(rendered.html_of(page))
    addresses = [str(a["href"]) for tag, a in read.tags if tag == "a"]
    assert addresses
    for address in addresses:
        assert address.startswith("https://code.example/acme/mirror/commit/")
        git("cat-file", "-e", f"{address.rpartition('/')[2]}^{{commit}}")
    names = {checkpoint.name for checkpoint in written.guard.log(200)}
    assert {*re.findall(r"\bcp_\d+", page)} <= names


def test_commits_that_no_remote_has_are_not_linked(written: planted.Written, git: Git) -> None:
    git("remote", "add", "origin", "git@code.example:acme/mirror.git")
    for form in ("markdown", "html"):
        assert "https://" not in written.guard.review.report(written.range, form)


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("git@github.com:acme/mirror.git", "https://github.com/acme/mirror"),
        ("https://github.com/acme/mirror", "https://github.com/acme/mirror"),
        ("https://user:word@git.example/a/b.git", "https://git.example/a/b"),
        ("ssh://git@git.example:2222/a/b.git", "https://git.example/a/b"),
        ("../origin", ""),
        ("/srv/git/a.git", ""),
        ("file:///srv/git/a.git", ""),
        ("https://git.example/a/../b", ""),
        ("https://git.example/a(b)", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_a_remote_is_linked_only_where_a_browser_finds_it(remote: str, address: str) -> None:
    assert web_address(remote) == address


def test_a_commit_that_was_amended_is_tied_by_its_changes_and_the_page_says_so(
    written: planted.Written, git: Git
) -> None:
    git("commit", "--quiet", "--amend", "--message", "Another subject")
    page = written.guard.review.report(f"{written.base}..HEAD")
    assert "30 of 30 commits tied to the agent's work by the content of a file" in page


def test_files_stand_with_who_changed_them(written: planted.Written) -> None:
    report = gather(written.guard.sessions, written.guard.review.piece(written.range)).report
    authors = {file.path: file.author for file in report.files}
    assert authors[planted.OUTSIDE] == OUTSIDE
    assert authors["tests/test_cleaner.py"] == SHELL
    assert authors["mirror/index.py"] == TOOLS


def test_an_item_is_followed_from_where_it_appeared_to_where_it_went(
    written: planted.Written,
) -> None:
    report = gather(written.guard.sessions, written.guard.review.piece(written.range)).report
    assert report.newest is not None
    assert report.newest.goal.startswith("Sync the package mirror")
    (gone,) = (limit for limit in report.of(*LIMITS) if limit.removed is not None)
    assert gone.text == "No network access while tests run"
    assert gone.first < gone.last
    assert gone.removed == gone.last + 1
    assert report.stops[gone.first].commit in {commit.id for commit in report.commits}


def test_a_part_of_the_work_tells_what_was_there_before(written: planted.Written, git: Git) -> None:
    middle = git("rev-list", "--reverse", "main").splitlines()[20]
    whole = gather(written.guard.sessions, written.guard.review.piece(written.range)).report
    part = gather(written.guard.sessions, written.guard.review.piece(f"{middle}..main")).report
    made_in_part, made_in_whole = (r.of("decisions", is_new=True) for r in (part, whole))
    assert 0 < len(made_in_part) < len(made_in_whole)
    unchecked, of_whole = (r.of("pending_assumptions", stands=True) for r in (part, whole))
    assert {entry.id for entry in unchecked} == {entry.id for entry in of_whole}
    assert all(entry.inherited for entry in unchecked)
    assert "was there before" in written.guard.review.report(f"{middle}..main")


def test_a_secret_is_taken_out_once_more(written: planted.Written, open_guard: OpenGuard) -> None:
    places = written.guard.workspace.places
    Path(places.config_home).mkdir(parents=True, exist_ok=True)
    rules = "redaction:\n  rules:\n    - {name: hosts, pattern: 'staging mirror'}\n"
    (Path(places.config_home) / "config.yaml").write_text(rules)
    for form in REPORT_FORMATS:
        page = open_guard().review.report(written.range, form)
        assert "staging mirror" not in page
        assert "REDACTED:hosts" in page


def test_a_clone_without_the_agents_machine_gets_the_report_and_is_told_whose_it_is(
    written: planted.Written, git: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git("clone", "--quiet", str(git.root), str(clone))
    guard = open_guard(clone, state_home=str(tmp_path / "other-state"))
    page = guard.review.report(written.range)
    blocks = rendered.Page(rendered.html_of(page)).blocks
    assert len(planted.answered(blocks)) >= 9
    assert "this machine has no record of the history, so only its structure was checked" in page
    assert "did not write" not in page
    assert "from another machine" in page
    assert not (clone / ".gitguard").exists()


def test_a_range_that_names_nothing_is_refused(written: planted.Written) -> None:
    with pytest.raises(InvalidInput):
        written.guard.review.report("no-such-branch..HEAD")


def test_work_without_a_checkpoint_is_reported_as_such(guard: Guard, git: Git) -> None:
    base = git("rev-parse", "HEAD")
    git("commit", "--quiet", "--allow-empty", "--message", "By hand")
    for form in REPORT_FORMATS:
        page = guard.review.report(f"{base}..HEAD", form)
        assert form == "json" or "No checkpoint is tied to these commits" in page


def test_templates_of_the_users_own_take_the_place_of_ours(written: planted.Written) -> None:
    folder = Path(written.guard.workspace.places.config_home) / "templates"
    folder.mkdir(parents=True)
    (folder / "report.md.j2").write_text("Ours: {{ goal }}\n")
    (folder / "report.html.j2").write_text("<p>{{ goal }}{{ '<b>' }}</p><style>{{ style }}</style>")
    (folder / "report.css").write_text("p { color: teal }")
    reviews = written.guard.review
    assert reviews.report(written.range).startswith("Ours: Sync the package mirror")
    page = reviews.report(written.range, "html")
    assert "&lt;b&gt;</p><style>p { color: teal }</style>" in page
    (folder / "report.md.j2").write_text("{{ no_such_value }}")
    with pytest.raises(InvalidConfig, match=r"report\.md\.j2"):
        reviews.report(written.range)


def test_a_repository_cannot_bring_templates(written: planted.Written, git: Git) -> None:
    for folder in (git.root / "templates", git.root / ".gitguard" / "templates"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.md.j2").write_text("Theirs")
    assert "Theirs" not in written.guard.review.report(written.range)


def test_many_checkpoints_take_little_memory(guard: Guard, git: Git) -> None:
    written = planted.write(planted.history(3, 75, 300), guard, git)
    piece = guard.review.piece(written.range)
    tracemalloc.start()
    report = gather(guard.sessions, piece).report
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(report.stops) == 301
    assert peak < 14_000_000, peak


def test_a_report_goes_to_standard_output_or_to_the_file_that_is_named(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.run("gitguard ensure")
    place.run('gitguard note --goal "Port the parser" --decision "By hand" --why "Fewer parts"')
    place.type("echo 1 > parser.py; git add parser.py; git commit --quiet --message Work")
    place.run("gitguard checkpoint")
    before = place.type("git status --short --ignored")
    shown = place.run("gitguard report HEAD~..HEAD")
    assert shown.stdout.startswith("### Port the parser")
    assert json.loads(place.run("gitguard report HEAD~..HEAD --json").stdout)["schema_version"] == 1
    target = tmp_path / "page.html"
    done = place.run(f"gitguard report HEAD~..HEAD --format html -o {target}")
    assert done.stdout.startswith(f"Written: {target}")
    assert target.read_text().startswith("<!doctype html>")
    assert place.type("git status --short --ignored") == before
    refused = place.run(f"gitguard report HEAD~..HEAD -o {tmp_path}/no/page.md")
    assert refused.returncode != 0
    assert "cannot be written" in refused.stderr


def test_the_json_hides_no_character_from_its_reader(begun: Guard, git: Git) -> None:
    base = git("rev-parse", "HEAD")
    hidden = "\u009b31m \u202e \u0085 \u200b \x7f"
    (git.root / f"name {hidden}").write_text("new\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", f"Work {hidden}")
    begun.note({"decisions": [{"what": f"Decide {hidden}", "why": "w"}]})
    begun.checkpoint("The turn ended")
    text = begun.review.report(f"{base}..HEAD", "json")
    assert visible(text) == text
    assert [file["path"] for file in json.loads(text)["files"]] == [f"name {hidden}"]


def test_what_was_noted_at_once_stays_in_its_order(begun: Guard, git: Git) -> None:
    base = git("rev-parse", "HEAD")
    whats = [f"Decision {number}" for number in range(30)]
    begun.note({"decisions": [{"what": what, "why": "w"} for what in whats]})
    (git.root / "parser.py").write_text("1\n")
    git("add", "parser.py")
    git("commit", "--quiet", "--message", "Work")
    begun.checkpoint("The turn ended")
    report = json.loads(begun.review.report(f"{base}..HEAD", "json"))
    assert [e["text"] for e in report["entries"] if e["field"] == "decisions"] == whats


def test_without_hooks_no_file_is_said_to_have_changed_outside(begun: Guard, git: Git) -> None:
    base = git("rev-parse", "HEAD")
    (git.root / "parser.py").write_text("1\n", encoding="utf-8")
    git("add", "parser.py")
    git("commit", "--quiet", "--message", "Work")
    begun.note({"decisions": [{"what": "By hand", "why": "w"}]})
    begun.checkpoint("The turn ended")
    page = begun.review.report(f"{base}..HEAD")
    assert "parser.py" in page
    assert "Changed outside" not in page
