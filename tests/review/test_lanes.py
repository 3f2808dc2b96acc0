"""Whoever reviews sees the work of every machine that synced, under its writer's name."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from subprocess import run

import pytest

from gitguard.errors import InvalidInput, Untrusted
from gitguard.sessions.lane_reading import readable_lanes
from gitguard.store.session.workspace import Session
from tests.conftest import Git
from tests.support import keys
from tests.support.conversation import Clock
from tests.support.desks import desk, writes
from tests.support.hostile import gitguard, inside
from tests.support.scratch import BIN
from tests.support.staged import staged_object
from tests.support.synced_machines import LANES, Machine, make_remote, typed

SCRIPT = Path(__file__).parents[2] / "templates" / "ci" / "report.sh"


class Work:
    """Two machines that worked at one branch, one after the other, and synced."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.clock = Clock()
        self.remote = make_remote(folder, *options)
        self.a, at_a = desk(folder, "a", self.clock)
        self.base = self.a.git("rev-parse", "HEAD")
        at_a.prompt("Describe the parser in the README.")
        self.a.guard.note({"decisions": [{"what": "Tables before prose", "why": "They are short"}]})
        self.a.guard.note({"constraints": ["No new dependency", "No build step"]})
        writes(at_a, "README.md", "# The parser\n\nIt parses.\n")
        at_a.send("Stop")
        self._commit(self.a, "Describe the parser")
        self.a.settled()
        self.b, at_b = desk(folder, "b", self.clock)
        self.b.sync(pushes=False)
        self.b.trust(self.a)
        self.b.settled()
        at_b.prompt("Add what it does not do.")
        self.b.guard.note({"decisions": [{"what": "Name the gaps", "why": "Users ask"}]})
        self.b.guard.update({"constraints": ["No new dependency"]})
        writes(at_b, "README.md", "# The parser\n\nIt parses.\n\nIt does not lex yet.\n")
        at_b.send("Stop")
        self._commit(self.b, "Name the gaps")
        self.b.settled()

    def _commit(self, machine: Machine, subject: str) -> None:
        machine.git("commit", "--quiet", "--all", "-m", subject)
        machine.git("push", "--quiet", "origin", "HEAD:main")

    def clone(self, name: str) -> Machine:
        """Clone the remote as a job does, with its lanes."""
        root = self.folder / name
        Git(self.folder)("clone", "--quiet", str(self.remote.root), str(root))
        fetched = f"+{LANES}*:refs/gitguard/remotes/origin/lanes/*"
        Git(root)("fetch", "--quiet", "origin", fetched)
        return Machine(root, self.folder / f"{name}-home", self.clock, str)


tmp_path, work = staged_object("work", Work)


def reported(machine: Machine, work: Work, form: str = "markdown") -> str:
    return machine.guard.review.report(f"{work.base}..HEAD", form)


def test_a_fresh_clone_with_lanes_alone_reports_the_work_of_each_writer(work: Work) -> None:
    ci = work.clone("ci")
    page = reported(ci, work)
    assert "Tables before prose" in page
    assert "Name the gaps" in page
    for machine in (work.a, work.b):
        assert f"{machine.home.name} (writer {machine.writer[:6]}" in page.replace("&#8203;", "")
    assert "whom nobody here trusts" in page
    assert "the lane is not signed" in page
    assert "2 of 2 commits tied to the agent's work by the content of a file" in page
    assert ci.git("for-each-ref", "refs/heads/gitguard") == ""
    assert not (ci.git.root / ".gitguard").exists()


def test_the_page_for_a_browser_has_the_work_of_each_writer(work: Work) -> None:
    page = reported(work.clone("ci"), work, "html")
    for text in ("Tables before prose", "Name the gaps", work.a.writer, work.b.writer):
        assert text in page


def test_an_item_stands_once_and_in_the_lane_of_whoever_wrote_it(work: Work) -> None:
    document = json.loads(reported(work.clone("ci"), work, "json"))
    texts = [entry["text"] for entry in document["entries"] if entry["field"] == "decisions"]
    assert sorted(texts) == ["Name the gaps", "Tables before prose"]
    writers = {
        entry["text"]: document["stops"][entry["first"]]["writer"]
        for entry in document["entries"]
        if entry["field"] == "decisions"
    }
    expected = {"Tables before prose": work.a.writer, "Name the gaps": work.b.writer}
    assert writers == expected
    assert all(entry["elsewhere"] for entry in document["entries"])
    assert {verdict["writer"] for verdict in document["verdicts"]} == set(expected.values())
    assert [verdict["is_ours"] for verdict in document["verdicts"]] == [False, False]


def test_what_one_writer_removed_is_removed_in_the_report(work: Work) -> None:
    ci = work.clone("ci")
    document = json.loads(reported(ci, work, "json"))
    limits = {e["text"]: e for e in document["entries"] if e["field"] == "constraints"}
    removed = limits["No build step"]
    assert document["stops"][removed["first"]]["writer"] == work.a.writer
    assert document["stops"][removed["removed"]]["writer"] == work.b.writer
    assert limits["No new dependency"]["removed"] is None
    assert "**Removed** constraint: No build step" in reported(ci, work)


def test_a_lane_that_does_not_verify_is_named_and_not_called_verified(work: Work) -> None:
    ref = work.a.lane
    first, *_, last = work.remote("rev-list", "--reverse", ref).splitlines()
    # An outsider writes a state of his own into the newest commit, as who can push there could.
    body = work.remote("cat-file", "commit", last)
    blob = work.remote("hash-object", "-w", "--stdin", stdin="{}")
    listed = work.remote("ls-tree", last).splitlines()
    listed = [f"100644 blob {blob}\tstate.json" if "state.json" in x else x for x in listed]
    tree = work.remote("mktree", stdin="\n".join(listed) + "\n")
    forged = body.replace(body.split("\n", 1)[0], f"tree {tree}").replace(
        f"Gitguard-Lane: {work.a.writer}", f"Gitguard-Lane: {'0' * 16}", 1
    )
    commit = work.remote("hash-object", "-w", "-t", "commit", "--stdin", stdin=forged + "\n")
    work.remote("update-ref", ref, commit)
    ci = work.clone("ci")
    page = reported(ci, work)
    assert f"refs/gitguard/lanes/main/{work.a.writer}" in page.replace("&#8203;", "").replace(
        "\\", ""
    )
    assert "holds no lane of its writer, and is left out" in page
    assert f"a (writer {work.a.writer})" not in page.replace("&#8203;", "")


def test_a_lane_whose_history_does_not_verify_is_named(work: Work) -> None:
    """Its newest commit is the writer's; one before it is another writer's."""
    ref = work.a.lane
    last = work.remote("rev-parse", ref)
    other = work.remote("rev-parse", work.b.lane)
    body = work.remote("cat-file", "commit", last)
    parent = work.remote("rev-parse", f"{last}^")
    forged = body.replace(f"parent {parent}", f"parent {other}")
    commit = work.remote("hash-object", "-w", "-t", "commit", "--stdin", stdin=forged + "\n")
    work.remote("update-ref", ref, commit)
    page = reported(work.clone("ci"), work).replace("&#8203;", "").replace("\\", "")
    assert f"The lane refs/gitguard/lanes/main/{work.a.writer} cannot be read" in page.replace(
        "`", ""
    )
    assert "Name the gaps" in page, "the other lane is whole"


def test_a_lane_that_claims_to_copy_others_hides_nothing_of_them(work: Work) -> None:
    """It names their checkpoints, and has their items by id with other words."""
    lane = work.remote("rev-parse", work.a.lane)

    def forged_tree(commit: str) -> str:
        state = work.remote("show", f"{commit}:state.json")
        state = state.replace("Tables before prose", "Prose only")
        blob = work.remote("hash-object", "-w", "--stdin", stdin=state + "\n")
        entries = [
            f"100644 blob {blob}\tstate.json" if line.endswith("state.json") else line
            for line in work.remote("ls-tree", commit).splitlines()
        ]
        return work.remote("mktree", stdin="\n".join(entries) + "\n")

    forged = ""
    for commit in work.remote("rev-list", "--reverse", lane).splitlines():
        head, _, message = work.remote("cat-file", "commit", commit).partition("\n\n")
        lines = [line for line in head.split("\n") if not line.startswith(("parent", "tree"))]
        parent = [f"parent {forged}"] if forged else []
        message = message.replace(f"Lane: {work.a.writer}", f"Lane: {'0' * 16}")
        body = "\n".join([f"tree {forged_tree(commit)}", *parent, *lines, "", message, ""])
        forged = work.remote("hash-object", "-w", "-t", "commit", "--stdin", stdin=body)
    work.remote("update-ref", f"{LANES}main/{'0' * 16}", forged)
    ci = work.clone("ci")
    document = json.loads(reported(ci, work, "json"))
    by_text = {e["text"]: document["stops"][e["first"]]["writer"] for e in document["entries"]}
    assert by_text["Tables before prose"] == work.a.writer
    assert by_text["Prose only"] == "0" * 16
    review = ci.guard.review
    found = review.search(("prose",), fields=("decision",), untrusted=True).matches
    assert {m.text[0]: m.writer for m in found}["Tables before prose"] == work.a.writer


def test_who_copies_an_item_into_a_lane_is_named_beside_its_writer(work: Work) -> None:
    """Nothing shows who was first where nobody is trusted."""
    lane, copy = work.remote("rev-parse", work.a.lane), "0" * 16
    forged = ""
    for commit in work.remote("rev-list", "--reverse", lane).splitlines():
        head, _, message = work.remote("cat-file", "commit", commit).partition("\n\n")
        lines = [line for line in head.split("\n") if not line.startswith("parent")]
        lines = [re.sub(r"> \d+ ", "> 1700000000 ", line) for line in lines]
        parent = [f"parent {forged}"] if forged else []
        message = message.replace(f"Lane: {work.a.writer}", f"Lane: {copy}")
        body = "\n".join([lines[0], *parent, *lines[1:], "", message, ""])
        forged = work.remote("hash-object", "-w", "-t", "commit", "--stdin", stdin=body)
    work.remote("update-ref", f"{LANES}main/{copy}", forged)
    ci = work.clone("ci")
    document = json.loads(reported(ci, work, "json"))
    (entry,) = [e for e in document["entries"] if e["text"] == "Tables before prose"]
    named = {document["stops"][entry["first"]]["writer"], *entry["also_by"]}
    assert named == {work.a.writer, copy}
    page = reported(ci, work).replace("&#8203;", "")
    (also,) = entry["also_by"]
    assert f"writer {also} says the same" in page
    work.b.sync(pushes=False)
    document = json.loads(reported(work.b, work, "json"))
    (entry,) = [e for e in document["entries"] if e["text"] == "Tables before prose"]
    assert document["stops"][entry["first"]]["writer"] == work.a.writer


def test_on_a_machine_that_trusts_a_writer_its_lane_is_read_as_trusted(work: Work) -> None:
    document = json.loads(reported(work.b, work, "json"))
    decisions = [e["text"] for e in document["entries"] if e["field"] == "decisions"]
    assert sorted(decisions) == ["Name the gaps", "Tables before prose"]
    page = reported(work.b, work).replace("&#8203;", "")
    assert "history written by this machine, with what it joined from other machines" in page
    verdicts = {v["writer"]: v for v in document["verdicts"]}
    assert set(verdicts) == {"", work.a.writer}, "the own lane says nothing more"
    assert all(verdict["is_ours"] and verdict["is_sound"] for verdict in verdicts.values())
    assert f"a (writer {work.a.writer}), trusted here" in reported(work.b, work).replace(
        "&#8203;", ""
    )


def test_the_report_says_whose_signature_a_lane_has(work: Work) -> None:
    user = keys.Machine(Path(os.environ["HOME"]))
    pairs = keys.SshKeys(user.home / "pairs")
    user.use_ssh(pairs.make("laptop"), pairs.allowed)
    (work.a.home / "config").mkdir(exist_ok=True)
    (work.a.home / "config" / "config.yaml").write_text("sign: true\n")
    work.a.learn("Tables are easy to read")
    work.a.settled()
    ci = work.clone("ci")
    assert "the lane is signed by laptop" in reported(ci, work)
    pairs.allowed.write_text("")
    page = reported(ci, work)
    assert "the lane's signature was not verified" in page
    assert "the lane is signed by" not in page


def test_the_report_says_that_a_key_signed_that_was_named(work: Work) -> None:
    user = keys.Machine(Path(os.environ["HOME"]))
    public = keys.SshKeys(user.home / "pairs").make("laptop", allow=False)
    user.git_config(gpg_format="ssh", user_signingkey=public, commit_gpgSign="true")
    work.a.learn("Tables are easy to read")
    work.a.settled()
    user.git_config(gpg_format="openpgp", commit_gpgSign="false")
    ci = work.clone("ci")
    assert "the lane's signature was not verified" in reported(ci, work)
    name = public.read_text().split()[2]
    ci.guard.lanes.trust_key(str(public))
    page = reported(ci, work).replace("&#8203;", "").replace("\\", "")
    assert f"the lane is signed by a key that you named ({name})" in page
    assert "was not verified" not in page


# The commands


def test_log_show_and_diff_read_a_lane_by_its_writer(work: Work) -> None:
    history = work.b.guard.history
    names = [e.checkpoint.name for e in history.log(writer=work.a.writer[:6]).entries]
    assert names[-1] == "cp_001"
    assert {e.writer for e in history.log(writer="a").entries} == {work.a.writer}
    change = history.change(names[0], writer="a")
    assert change.checkpoint.lane is not None
    assert b"Tables before prose" in history.show("state.json", names[0], writer="a")
    assert "Tables before prose" in str(history.now(writer="a"))
    compared = history.diff("1", writer="a", with_text=True)
    assert compared.difference.newer == names[0]
    assert "Tables before prose" in compared.text
    with pytest.raises(InvalidInput, match="is the name of no writer here"):
        history.log(writer="nobody")


def test_a_lane_that_nobody_trusts_is_refused_and_marked(work: Work) -> None:
    ci = work.clone("ci").guard
    with pytest.raises(Untrusted, match="lane of another writer"):
        ci.history.log(session="main", writer="a")
    log = ci.history.log(session="main", writer="a", untrusted=True)
    assert not any(entry.is_ours for entry in log.entries)
    with pytest.raises(Untrusted) as refused:
        ci.history.show("state.json", "1", writer="a")
    assert f"gitguard sync --trust {work.a.writer}" in refused.value.hint
    assert "whom nobody here trusts" in ci.history.why_not_ours(writer="a")
    every = ci.history.log(every_session=True)
    assert (every.entries, every.has_hidden_lanes) == ((), True)
    assert every.notes == ("Left out 2 lanes of writers whom nobody here trusts.",)
    every = ci.history.log(3, every_session=True, untrusted=True)
    assert {entry.writer for entry in every.entries} <= {work.a.writer, work.b.writer}
    assert [entry.label for entry in every.entries][0] == f"main@{work.b.writer[:8]}"
    assert every.more > 0


def test_a_writer_of_another_session_is_named_with_its_session(work: Work) -> None:
    work.b.git("switch", "--quiet", "-c", "other")
    work.b.guard.sessions.use(Session.of("other"))
    refused = typed(work.b, "log", "--writer", "a")
    assert "`a` has no lane of the session `other` here" in refused.err
    assert "Add `--session main`" in refused.err
    assert "cp_001" in typed(work.b, "log", "--writer", "a", "--session", "main").out


def test_the_commands_that_show_names_look_at_the_same_lane(work: Work) -> None:
    ci = work.clone("ci")
    view = ("--session", "main", "--writer", work.a.writer[:6], "--untrusted")
    command = f"gitguard show state 2 {' '.join(view)}"
    assert command in typed(ci, "show", "2", *view).out
    assert typed(ci, *command.split()[1:]).code == 0


def test_a_search_that_finds_nothing_names_the_lanes_that_it_left_out(work: Work) -> None:
    ci = work.clone("ci")
    ci.git("switch", "--quiet", "-c", "other")
    ci.guard.ensure()
    nothing = typed(ci, "search", "tables")
    assert "--untrusted also searches 2 lanes of writers whom nobody here trusts" in nothing.err
    assert "--untrusted" not in typed(ci, "search", "nonesuch", "--untrusted").err


def test_search_and_why_name_the_writer(work: Work) -> None:
    job = work.clone("ci")
    ci, readme = job.guard.review, str(job.git.root / "README.md")
    assert ci.search(("tables",)).matches == ()
    (match,) = ci.search(("tables",), fields=("decision",), untrusted=True).matches
    assert (match.writer, match.is_ours) == (work.a.writer, False)
    (match,) = work.b.guard.review.search(("tables",), fields=("decision",)).matches
    assert match.writer == "", "it was joined, so the own session has it"
    answer = ci.why(f"{readme}:5", untrusted=True)
    assert work.b.writer in {reason.item.writer for reason in answer.reasons}
    assert "Name the gaps" in {reason.item.text[0] for reason in answer.reasons}
    assert ci.why(f"{readme}:5").reasons == ()
    at = ci.at("HEAD").knowledge
    assert [k.link.lane_writer for k in at] == [work.b.writer]


def test_an_item_of_another_machine_is_labelled_alike_wherever_it_is_found(work: Work) -> None:
    """Whether it is found in a lane or in the history into which it was joined."""
    places = (("search", "tables"), ("why", "README.md:3"), ("search", "tables", "--writer", "a"))
    for words in places:
        heads = [x for x in typed(work.b, *words).out.splitlines() if x.startswith("decision")]
        assert heads, words
        assert all(x.endswith("  agent, from another machine") for x in heads), words
    ci = work.clone("ci")
    (head, *_) = typed(ci, "search", "tables", "--untrusted").out.splitlines()
    assert head.startswith("NOT OURS  decision")
    assert head.endswith("  agent, from another machine")


def test_what_was_removed_is_still_another_machines(work: Work) -> None:
    """The state lists it no more, and the history has it."""
    (match,) = work.b.guard.review.search(("build step",)).matches
    assert (match.elsewhere, match.is_ours, bool(match.removed)) == (True, False, True)
    work.b.guard.note({"constraints": ["No network"]})
    work.b.guard.checkpoint("A limit")
    work.b.guard.update({"constraints": []})
    work.b.guard.checkpoint("Limits are gone")
    for words, elsewhere in (("build step", True), ("new dependency", True), ("network", False)):
        (match,) = work.b.guard.review.search((words,)).matches
        assert (words, match.elsewhere) == (words, elsewhere)
    for ref in work.b.git(
        "for-each-ref", "--format=%(refname)", "refs/gitguard/lanes", "refs/gitguard/remotes"
    ).split():
        work.b.git("update-ref", "-d", ref)
    document = json.loads(reported(work.b, work, "json"))
    limits = {e["text"]: e["elsewhere"] for e in document["entries"] if e["field"] == "constraints"}
    assert limits["No build step"]


def test_nothing_of_a_lane_is_published(work: Work) -> None:
    with pytest.raises(Untrusted):
        work.clone("ci").guard.review.publication(f"{work.base}..HEAD")


# What a job runs, and what is large


def test_the_script_of_a_job_fetches_the_lanes(work: Work) -> None:
    root = work.folder / "job"
    Git(work.folder)("clone", "--quiet", str(work.remote.root), str(root))
    with inside(root, PATH=os.pathsep.join((BIN, os.environ["PATH"]))):
        done = run(["sh", str(SCRIPT), work.base], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (root / "report.md").read_text()
    assert "Tables before prose" in page
    assert "Name the gaps" in page


def test_commands_take_a_writer(work: Work) -> None:
    places = {"GITGUARD_STATE_DIR": str(work.b.home / "state")}
    with inside(work.b.git.root, **places):
        assert "cp_001" in gitguard("log", "--writer", work.a.writer[:4]).out
        shown = gitguard("show", "2", "--writer", "a").out
        assert "Tables before prose" in shown
        assert "gitguard show state 2 --writer a" in shown
        assert "Tables before prose" in gitguard("diff", "1..2", "--writer", "a").out
        assert f"main@{work.a.writer[:8]}" in gitguard("log", "--all").out
        assert gitguard("show", "host-summary", "--writer", "a").code == 2
        assert gitguard("log", "--writer", "nobody").code == InvalidInput.exit_code
        for words in (("search", "tables"), ("at", "HEAD~1"), ("why", "README.md:3")):
            outcome = gitguard(*words, "--writer", "a")
            assert f"main@{work.a.writer[:8]}" in outcome.out, words
        for command in ("search tables", "at HEAD", "log"):
            assert gitguard(*command.split(), "--untrusted").code == 0, command
        assert "Name the gaps" not in gitguard("report", work.base, "--writer", "a").out
        assert f"main@{work.a.writer[:8]}" in gitguard("log", f"{work.base}..", "--writer", "a").out


def test_a_repository_of_sha256_is_read_alike(tmp_path_factory: pytest.TempPathFactory) -> None:
    work = Work(tmp_path_factory.mktemp("sha256"), "--object-format=sha256")
    page = reported(work.clone("ci"), work)
    assert "2 of 2 commits tied to the agent's work by the content of a file" in page


def test_of_very_many_lanes_a_thousand_are_read(work: Work) -> None:
    """An outsider copies a lane under many names, of which none is its writer's."""
    ci = work.clone("ci")
    commit = ci.git("rev-parse", f"refs/gitguard/remotes/origin/lanes/main/{work.a.writer}")
    folder = "refs/gitguard/remotes/origin/lanes/other"
    lines = "".join(f"create {folder}/{number:016x} {commit}\n" for number in range(1_200))
    ci.git("update-ref", "--stdin", stdin=lines)
    lanes = readable_lanes(ci.guard.sessions)
    assert "There are 1,202 lanes; 1,000 were looked at." in lanes.notes
    assert {store.lane.writer for store in lanes.stores} == {work.a.writer, work.b.writer}
