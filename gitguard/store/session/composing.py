"""What a checkpoint consists of: its three files and the record its commit message gives."""

from __future__ import annotations

import os

from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE, SUMMARY_FILE, check_size, dump_json
from gitguard.model.text import timestamp
from gitguard.rendering import render
from gitguard.state import roles
from gitguard.state.capture import work_of
from gitguard.state.checkpoint import SNAPSHOT_FILE, CheckpointRecord, checkpoint_name
from gitguard.state.items import FROM_ELSEWHERE
from gitguard.state.snapshot import (
    SnapshotMeta,
    TokenUsage,
    previous_of,
    render_snapshot,
    snapshot_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.state.checkpoint import Code
    from gitguard.state.circumstances import Circumstances
    from gitguard.state.task import TaskState
    from gitguard.store.session.journal import JournalPart


def compose(
    state: TaskState,
    part: JournalPart,
    sequence: int,
    trigger: str,
    why: str,
    code: Code,
    circumstances: Circumstances,
    now: float,
    redactor: Redactor,
    *,
    written: bytes = b"",
) -> tuple[CheckpointRecord, Mapping[str, bytes]]:
    """Return a checkpoint's record and files; raise `InvalidDocument` if one is too large.

    written is the state's document where that was written out already. Secrets are taken out of
    everything.
    """
    if not written:
        state, _ = state.redacted(redactor)
    meta = _meta_of(state, part, sequence, trigger=trigger, circumstances=circumstances, now=now)
    work = work_of(part.entries, state, now, compacting=trigger == triggers.COMPACTION)
    contents = {
        STATE_FILE: written or dump_json(state.to_document()),
        SUMMARY_FILE: render_summary(state).encode(),
        SNAPSHOT_FILE: render_snapshot(snapshot_of(state, work, meta).redacted(redactor)[0]),
    }
    for name, data in contents.items():
        check_size(len(data), what=f"`{name}`")
    pressure = circumstances.pressure
    record = CheckpointRecord(
        session_key=state.session_id,
        sequence=sequence,
        trigger=trigger,
        phase=state.current_phase,
        headline=state.headline,
        why=redactor.text(why),
        pressure=pressure.share if pressure is not None and pressure.is_known else None,
        code=code.replace(branch=redactor.text(code.branch)),
        forked_from=circumstances.forked_from,
    )
    return record, contents


def _meta_of(
    state: TaskState,
    part: JournalPart,
    sequence: int,
    trigger: str,
    circumstances: Circumstances,
    now: float,
) -> SnapshotMeta:
    pressure, transcript = circumstances.pressure, circumstances.transcript
    usage, session_file = TokenUsage(), ""
    if pressure is not None and pressure.is_known:
        usage = TokenUsage(pressure.tokens, pressure.window.tokens, round(pressure.share, 3))
    if transcript is not None:
        session_file = transcript.session or os.path.basename(transcript.path)
    return SnapshotMeta(
        checkpoint_id=checkpoint_name(sequence),
        session_key=state.session_id,
        created_at=timestamp(now),
        trigger=trigger,
        token_usage=usage,
        session_file=session_file,
        compaction_count=circumstances.compaction_count,
        previous_checkpoint=previous_of(sequence),
        channel=circumstances.channel,
        agent_id=circumstances.agent,
        journal_id=part.id,
        journal_offset=part.end,
    )


def render_summary(state: TaskState) -> str:
    """Return the structured summary of a state."""
    names = {"goal": ("goal", state.goal_from), "next_action": ("next action", state.next_from)}
    prompted = [
        f"{words} ({FROM_ELSEWHERE})" if origin is not None and origin.elsewhere else words
        for name, (words, origin) in names.items()
        if not state.is_noted(name)
    ]
    below = (
        *state.noted(roles.OBSTACLE, roles.OPEN_WORK),
        *reversed(state.noted(roles.LIMIT)),
        *state.noted(roles.ASSUMPTION, roles.LESSON, roles.REMARK),
    )
    return render(
        "summary.md.j2",
        state=state,
        prompted=prompted,
        done=[(field.label, field.items_in(state)) for field in state.noted(roles.DONE_WORK)],
        noted=[(field.label, field.items_in(state)) for field in below],
    )
