"""The host's own summary is kept whole outside the branch, and used where nothing else is left."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitguard.errors import NothingFound
from gitguard.hosts.openclaw import hooks
from gitguard.model import events
from gitguard.model.events import HookEvent, Transcript
from gitguard.state.host_summary import MOST_KEPT
from gitguard.store.session.workspace import Session
from gitguard.store.worktree.consolidating import consolidate
from gitguard.store.worktree.summaries import MOST
from tests.support.conversation import Conversation
from tests.support.openclaw_sessions import LAY_OUT, MAIN

SECRET = "ghp_" + "k3B9x7QmT2vR8sW4nZ6yL1pD5cF0hJgAeUoI"
SUMMARY = """<analysis>
Let me go through it once more.
</analysis>
<summary>
1. **Primary Request and Intent:**
   Import the invoices of two banks.
2. **Key Technical Concepts:**
   - Dialects
3. **Files and Code Sections:**
   - `importer/dialect.py`: 4,096 bytes are sniffed
4. **Errors and fixes:**
   - A lone quote ended the row.
5. **Problem Solving:**
   Sniffing was chosen.
6. **All user messages:**
   - "never touch the archive folder"
7. **Pending Tasks:**
   - Still need to run the tests
   - Document the encoding
8. **Current Work:**
   The reader of quoted fields was half done.
9. **Optional Next Step:**
   Read the second bank's file.
</summary>"""


def compacted(folder: Path, summary: str = SUMMARY, words: str = "") -> Conversation:
    if words:
        (folder / "config").mkdir()
        text = f"capture:\n  words: {words}\n"
        (folder / "config" / "config.yaml").write_text(text, encoding="utf-8")
    talk = Conversation(folder)
    talk.prompt("Import the invoices")
    compact(talk, summary)
    return talk


def compact(talk: Conversation, summary: str = SUMMARY) -> None:
    talk.send("PreCompact.auto")
    talk.send("PostCompact", compact_summary=summary)
    talk.send("Stop", last_assistant_message="Both files were read.")


def packs(talk: Conversation) -> list[str]:
    folder = talk.root / ".git" / "gitguard" / "files.git" / "objects" / "pack"
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def summary_packs(talk: Conversation) -> list[str]:
    return [name for name in packs(talk) if "~summary-" in name and name.endswith(".pack")]


def block_of_another(talk: Conversation) -> str:
    return talk.beside("S2").prompt("Go on with the invoices of the banks")


def test_the_whole_summary_is_kept_without_what_the_model_thought(tmp_path: Path) -> None:
    talk = compacted(tmp_path)

    shown = talk.guard.history.host_summary()

    assert shown.text.startswith("1. **Primary Request and Intent:**")
    assert shown.text.endswith("Read the second bank's file.")
    summary = talk.guard.state().host_summary
    assert summary is not None
    assert summary.length == len(shown.text)
    assert talk.git("--git-dir=.git/gitguard/files.git", "cat-file", "-p", summary.whole) == (
        shown.text
    )
    assert talk.faults() == []


def test_the_branch_has_the_short_form_alone(tmp_path: Path) -> None:
    talk = compacted(tmp_path)
    state = talk.git("show", "gitguard/main:state.json")
    assert "The reader of quoted fields was half done." in state
    assert "never touch the archive folder" not in state


def test_a_new_conversation_gets_more_of_the_summary_and_the_command(tmp_path: Path) -> None:
    block = block_of_another(compacted(tmp_path))

    assert "by the host's summary (`gitguard show host-summary`)" in block
    assert "- Current Work: The reader of quoted fields was half done." in block
    assert "4,096 bytes are sniffed" in block  # the short form has no files
    assert block.index("Current Work:") < block.index("Pending Tasks:")


def test_the_conversation_that_was_compacted_is_not_given_its_summary_again(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Import the invoices")
    talk.send("PreCompact.auto")
    talk.send("PostCompact", compact_summary=SUMMARY)
    answer = talk.send("SessionStart.compact")
    block = str(answer["hookSpecificOutput"]["additionalContext"])
    assert "host's summary" not in block


def test_what_was_under_way_is_over_once_the_agent_has_acted(tmp_path: Path) -> None:
    talk = compacted(tmp_path)
    talk.send(
        "PostToolUse.Bash",
        tool_input={"command": "pytest -q"},
        tool_response={"stdout": "12 passed in 0.31s", "stderr": "", "interrupted": False},
    )
    block = block_of_another(talk)
    assert "Current Work:" not in block
    assert "Document the encoding" in block


def test_what_passed_since_is_not_repeated_from_the_summary(tmp_path: Path) -> None:
    talk = compacted(tmp_path)
    talk.prompt("Are they fine?")
    talk.send(
        "PostToolUse.Bash",
        tool_input={"command": "pytest -q"},
        tool_response={"stdout": "12 passed in 0.31s", "stderr": "", "interrupted": False},
    )
    talk.send("Stop", last_assistant_message="Yes, all of them.")

    block = block_of_another(talk)

    assert "run the tests" not in block
    assert "Document the encoding" in block


def test_what_gitguard_said_before_is_no_part_of_the_summary(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    said = talk.prompt("Import the invoices")
    assert said.startswith("[gitguard: hooks save")
    compact(talk, f"{SUMMARY}\n\n## Recent turns\n- User: {said}\n\nImport the invoices")
    shown = talk.guard.history.host_summary().text
    assert shown.endswith("- User: Import the invoices")
    assert "[gitguard: hooks save" not in block_of_another(talk)


@pytest.mark.parametrize("words", ["off", "short"])
def test_nothing_whole_is_kept_where_few_words_are(tmp_path: Path, words: str) -> None:
    talk = compacted(tmp_path, words=words)

    assert summary_packs(talk) == []
    with pytest.raises(NothingFound):
        talk.guard.history.host_summary()


def test_a_secret_is_not_kept(tmp_path: Path) -> None:
    talk = compacted(tmp_path, SUMMARY.replace("half done", f"half done with {SECRET}"))

    text = talk.guard.history.host_summary().text

    assert SECRET not in text
    assert "half done with [REDACTED:" in text
    assert list(talk.guard.secrets.scan()) == []


def test_a_very_long_summary_is_cut_and_keeps_its_end(tmp_path: Path) -> None:
    talk = compacted(tmp_path, SUMMARY.replace("sniffed", "sniffed " * 10_000))
    text = talk.guard.history.host_summary().text
    assert len(text) <= MOST_KEPT
    assert "Read the second bank's file." in text


def test_packing_snapshots_together_leaves_the_summary(tmp_path: Path) -> None:
    talk = compacted(tmp_path)
    (talk.root / "untracked").write_text("new\n")
    talk.guard.checkpoint("with a file")
    before = summary_packs(talk)

    consolidate(talk.guard.store().worktree.file_store)
    talk.git("gc", "--quiet", "--prune=now")

    assert summary_packs(talk) == before
    assert "half done" in talk.guard.history.host_summary().text
    assert sum(name.endswith(".pack") for name in packs(talk)) == 2


def test_an_index_that_a_power_cut_took_is_made_again(tmp_path: Path) -> None:
    talk = compacted(tmp_path)
    index = summary_packs(talk)[0].replace(".pack", ".idx")
    place = talk.root / ".git" / "gitguard" / "files.git" / "objects" / "pack" / index
    place.unlink()
    consolidate(talk.guard.store().worktree.file_store)
    assert place.exists()


def test_the_oldest_summaries_give_way(tmp_path: Path) -> None:
    talk = compacted(tmp_path)
    for number in range(MOST + 2):
        compact(talk, f"{SUMMARY}\nTime {number}.")

    assert len(summary_packs(talk)) == MOST
    assert f"Time {MOST + 1}." in talk.guard.history.host_summary().text


def test_the_summary_of_an_earlier_checkpoint_is_shown_too(tmp_path: Path) -> None:
    talk = compacted(tmp_path)
    earlier = talk.guard.log(1)[0].name
    compact(talk, "1. **Current Work:**\nAll of it is imported.\n")

    assert "half done" in talk.guard.history.host_summary(earlier).text
    assert "imported" in talk.guard.history.host_summary().text


def test_a_fork_keeps_the_summary_for_itself(tmp_path: Path) -> None:
    talk = compacted(tmp_path)
    talk.guard.sessions.fork(Session("other", "other"))

    own = [name for name in summary_packs(talk) if name.startswith("other~")]

    assert len(own) == 1
    assert "half done" in talk.guard.history.host_summary().text


def test_without_a_compaction_there_is_none(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Import the invoices")
    with pytest.raises(NothingFound, match="no summary of the host's"):
        talk.guard.history.host_summary()


def test_a_purge_takes_out_a_whole_summary_with_the_value(tmp_path: Path) -> None:
    password = "correcthorse"
    talk = compacted(tmp_path, SUMMARY.replace("sniffed", f"sniffed, password is {password}"))
    value = list(talk.guard.secrets.scan())
    assert value == []  # no rule knows it

    talk.guard.secrets.purge("1", value=password, reason="It got into the summary")

    assert summary_packs(talk) == []
    with pytest.raises(NothingFound, match="purge"):
        talk.guard.history.host_summary()
    assert "Current Work:" in block_of_another(talk)


def test_a_purge_names_the_summary_of_another_session(tmp_path: Path) -> None:
    password = "correcthorse"
    talk = compacted(tmp_path, SUMMARY.replace("sniffed", f"sniffed, password is {password}"))
    talk.guard.sessions.fork(Session("other", "other"))

    purged = talk.guard.secrets.purge("1", value=password)

    assert any(leak.path == "host-summary" for leak in purged.elsewhere)


def test_a_damaged_pack_leaves_the_short_form(tmp_path: Path) -> None:
    talk = compacted(tmp_path)
    folder = talk.root / ".git" / "gitguard" / "files.git" / "objects" / "pack"
    place = folder / summary_packs(talk)[0]
    place.chmod(0o600)
    place.write_bytes(place.read_bytes().replace(b"half done", b"all done!"))

    block = block_of_another(talk)

    assert "half done" in block
    assert "all done!" not in block


def test_no_bundle_carries_the_summary(tmp_path: Path) -> None:
    talk = compacted(tmp_path)
    talk.git("bundle", "create", "--quiet", str(tmp_path / "all.bundle"), "--all")
    copy = tmp_path / "copy.git"
    command = ["git", "clone", "--quiet", "--mirror", str(tmp_path / "all.bundle"), str(copy)]
    subprocess.run(command, check=True)
    objects = subprocess.run(
        ["git", f"--git-dir={copy}", "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    ).stdout
    assert b"never touch the archive folder" not in objects


@pytest.mark.parametrize("version", LAY_OUT)
def test_openclaws_summary_is_read_where_the_host_writes_it(tmp_path: Path, version: str) -> None:
    talk = Conversation(tmp_path)
    folder = tmp_path / "host" / "agents" / "main"
    transcript = Transcript(str(folder), "openclaw", LAY_OUT[version](folder)[MAIN])
    event = HookEvent(
        kind=events.COMPACTION_START,
        host_session="O1",
        project_dir=str(talk.root),
        host="openclaw",
        transcript=transcript,
    )

    def compact_now() -> None:
        for kind in (events.COMPACTION_START, events.COMPACTION_END):
            talk.guard.handle(event.replace(kind=kind), hooks.HOST.abilities)

    talk.clock.now = 1_900_000_000.0  # after all that the host wrote
    compact_now()
    assert summary_packs(talk) == []

    talk.clock.now = 1_790_000_000.0
    compact_now()

    assert talk.guard.history.host_summary().text.startswith("## Decisions\n")
    talk.guard.checkpoint("after the compaction")
    summary = talk.guard.state().host_summary
    assert summary is not None
    assert summary.text.startswith("Open TODOs: ")
