"""What a checkpoint consists of: its three files and the record its commit message gives."""

from __future__ import annotations

import os

from gitguard.model.checkpoint import SNAPSHOT_FILE, CheckpointRecord
from gitguard.model.codec import STATE_FILE, SUMMARY_FILE, check_size, dump_json
from gitguard.model.journal import work_of
from gitguard.model.snapshot import SnapshotMeta, render_snapshot
from gitguard.model.text import timestamp
from gitguard.rendering import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.context.gauge import Circumstances
    from gitguard.model.checkpoint import Code
    from gitguard.model.task import TaskState
    from gitguard.store.journal import JournalPart


def compose(
    state: TaskState,
    part: JournalPart,
    sequence: int,
    trigger: str,
    why: str,
    code: Code,
    circumstances: Circumstances,
    now: float,
) -> tuple[CheckpointRecord, Mapping[str, bytes]]:
    """Return a checkpoint's record and files; raise `InvalidDocument` if one is too large."""
    pressure, transcript = circumstances.pressure, circumstances.transcript
    meta = SnapshotMeta(
        sequence=sequence,
        created_at=timestamp(now),
        trigger=trigger,
        session_file=os.path.basename(transcript.path) if transcript else "",
        tokens=pressure.tokens if pressure else None,
        window=pressure.window.tokens if pressure else None,
        pressure=pressure.share if pressure else None,
        journal_id=part.id,
        journal_offset=part.end,
        compaction_count=circumstances.compaction_count,
    )
    contents = {
        STATE_FILE: dump_json(state.to_document()),
        SUMMARY_FILE: render_summary(state).encode(),
        SNAPSHOT_FILE: render_snapshot(state, work_of(part.entries, state), meta),
    }
    for name, data in contents.items():
        check_size(len(data), what=f"`{name}`")
    record = CheckpointRecord(
        session_key=state.session_id,
        sequence=sequence,
        trigger=trigger,
        phase=state.current_phase,
        next_action=state.next_action,
        why=why,
        pressure=meta.pressure,
        code=code,
        forked_from=circumstances.forked_from,
    )
    return record, contents


def render_summary(state: TaskState) -> str:
    """Return the structured summary of a state."""
    return render("summary.md.j2", state=state)
