"""The commit that a shell command of the agent left checked out, also where git printed nothing."""

from __future__ import annotations

from gitguard.model.commit import parse_commit
from gitguard.model.text import one_line, timestamp
from gitguard.state import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.state.entries import JournalEntry
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.shell_edits import ShellRun

_LIMIT = 64 * 1024
"""Bytes of a commit that are read."""
_SUBJECT = 200


def commit_by(runs: Iterable[ShellRun], repository: Repository, head: str) -> JournalEntry | None:
    """Return the commit that HEAD names as an entry, None if no command made it while it ran."""
    with repository.reader() as reader:
        commit = parse_commit(reader.read(head, "commit", limit=_LIMIT))
    second = commit.first("committer").rpartition("> ")[2].partition(" ")[0]
    if not second.isdigit() or len(second) > len("1790000000"):
        return None
    committed_at = timestamp(int(second))
    for run in runs:
        if run.begun_at <= committed_at <= run.until and not run.was_cut_off:
            subject = one_line(commit.message.lstrip().partition("\n")[0])[:_SUBJECT]
            return run.call.without_call().replace(
                event=entries.COMMITTED, summary=f"{head} {subject}", command="", calls=0
            )
    return None
