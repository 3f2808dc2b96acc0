"""A conversation with only its sizes, so that a hundred megabytes of it fit into memory."""

from __future__ import annotations

from gitguard.model.conversation import CALL, COMPACTION, MESSAGE, RESULT, Block, Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_KEPT = ("at", "end", "kind", "id", "parent", "role", "message", "time", "tokens")
_RARE = ("answered", "by_host", "kept", "keeps_on")


def thinned(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries of which `context_of` can say what stands, without what they say.

    The text of summaries stays, since it may be asked for. What is before a compaction that lists
    what it keeps is left out, as no later entry brings it back.
    """
    found: list[Entry] = []
    is_told = False
    for entry in entries:
        if entry.is_aside or not (entry.id or entry.kind in (MESSAGE, COMPACTION)):
            continue
        if entry.kind == COMPACTION and not entry.keeps_on:
            found = [before for before in found if before.id in entry.kept]
        is_told = entry.kind == COMPACTION or is_told  # the next message may be its summary
        found.append(_thin(entry, with_text=is_told))
        is_told = is_told and entry.kind != MESSAGE
    return found


def _thin(entry: Entry, *, with_text: bool) -> Entry:
    fields = {name: value for name in _KEPT if (value := getattr(entry, name)) or name == "at"}
    fields |= {name: value for name in _RARE if (value := getattr(entry, name))}
    fields["blocks"] = entry.blocks if with_text else tuple(map(_bare, entry.blocks))
    return Entry._of(fields)


def _bare(block: Block) -> Block:
    if block.kind not in (CALL, RESULT):
        return Block._of({"kind": block.kind, "size": block.size})
    fields = {"kind": block.kind, "size": block.size, "id": block.id, "name": block.name}
    return Block._of({**fields, "is_error": True} if block.is_error else fields)
