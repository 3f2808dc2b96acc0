"""Calls of tools and their results, brought into pairs; every model refuses a conversation without.

Each call of a complete answer has exactly one result, which stands right behind the message with
the call. What is not so is decided here; nothing is changed but calls and results.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitguard.model.conversation import (
    AGENT,
    CALL,
    MESSAGE,
    OTHER,
    RESULT,
    THINKING,
    TOOL,
    Block,
    TranscriptEntry,
)
from gitguard.model.value import Value
from gitguard.transcripts.rewriting.edits import START, AddResult, Drop, Edit, Move, Reissue, Rename

MISSING = "[gitguard] missing tool result: the transcript held none for this call of `{name}`"
"""What an error says that stands in the place of a result."""
LONGEST_NAME = 128
LONGEST_ID = 40
"""Characters of an id that every model takes."""
_ALLOWED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")

ANSWERED, ORPHANED, DUPLICATE, MOVED = "answered", "orphaned", "duplicate", "moved"
INCOMPLETE, RENAMED, REISSUED, EMPTIED = "incomplete", "renamed", "reissued", "emptied"
UNSIGNED = "unsigned"


class Finding(Value):
    """One thing that is not as it should be, and is put right."""

    kind: str
    at: int
    """Where the entry begins."""
    call: str
    """The id of the call."""
    reason: str


class Pairing(Value):
    """What has to be done so that calls and results are pairs."""

    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()


def clean_name(name: str) -> str:
    """Return a tool's name as models take it, empty where there is no way to make it one."""
    trimmed = name.strip()
    is_fit = 0 < len(trimmed) <= LONGEST_NAME and _ALLOWED.issuperset(trimmed)
    return trimmed if is_fit else ""


def is_id(text: str, *, names_items: bool = False) -> bool:
    """Say whether an id is one that models take: of `A-Z a-z 0-9 _ -` only.

    names_items: whether the host knows OpenAI's ids, which name an item behind a bar.
    """
    if text and _ALLOWED.issuperset(text):
        return True
    call, bar, item = text.partition("|")
    return bool(names_items and bar and item and is_id(call)) and text.isascii() and _is_word(text)


def _is_word(text: str) -> bool:
    return text.isprintable() and " " not in text


def pair(
    entries: Iterable[TranscriptEntry],
    *,
    notes_between: bool = False,
    results_name_tools: bool = False,
) -> Pairing:
    """Decide on a conversation, its entries given in the order in which the model sees them.

    notes_between: whether the host puts results first by itself, so that what it says in the
    user's name may stand between a call and its result. results_name_tools: whether each result is
    a message that repeats the name of its tool, so that a blank one is filled, and their order is
    what the model sees; such hosts know OpenAI's ids.
    """
    pairs = _Pairs(entries, notes_between=notes_between, results_name_tools=results_name_tools)
    return pairs.pairing()


class _AgentMessage:
    """One message of the agent, which may be kept in several entries."""

    __slots__ = ("anchor", "calls", "entries", "parts")

    def __init__(self) -> None:
        self.entries: list[TranscriptEntry] = []
        self.calls: list[_Call] = []
        self.parts: list[tuple[int, int]] = []
        """The places of what stays of it, each with where the entry begins."""
        self.anchor = -1
        """The entry behind which a result that comes from elsewhere is put, if none of a later call
        stands."""

    def behind(self, call: _Call) -> int:
        """Return the entry behind which the result of a call is put: they stand in one order."""
        at = self.calls.index(call)
        later = [call.stands for call in self.calls[at + 1 :] if call.stands]
        if not later:
            return self.anchor
        before = [call.stands for call in self.calls[:at] if call.stands]
        ahead = [place for place in (*self.parts, *before) if place < min(later)]
        return max(ahead, default=(0, self.anchor))[1]


class _Call:
    __slots__ = ("answer", "block", "entry", "id", "is_answered", "stands", "void")

    def __init__(
        self, entry: TranscriptEntry, block: Block, answer: _AgentMessage, void: str
    ) -> None:
        self.entry, self.block, self.answer = entry, block, answer
        self.id = block.id
        """Which it has from now on."""
        self.is_answered = False
        self.stands: tuple[int, int] | None = None
        """The place of its result that stays where it is, with where that entry begins."""
        self.void = void
        """Why its results go, empty where it has one."""


class _Pairs:
    def __init__(
        self, entries: Iterable[TranscriptEntry], *, notes_between: bool, results_name_tools: bool
    ) -> None:
        self._notes_between = notes_between
        self._results_name_tools = results_name_tools
        self._entries = tuple(entries)
        self._calls: dict[str, _Call] = {}
        """The newest call of each id."""
        self._first: dict[str, _Call] = {}
        """The oldest one."""
        self._ids: set[str] = set()
        """Those of the calls that the model sees; no two of them may have the same."""
        self._uses: dict[str, int] = {}
        """How many calls after the first were given an id in the place of this one."""
        self._in_order: list[_Call] = []
        self._answers: dict[str, _AgentMessage] = {}
        self._current: _AgentMessage | None = None
        """The answer behind which nothing was said yet."""
        self._edits: list[Edit] = []
        self._drops: dict[int, list[int]] = {}
        self._lessened: dict[int, TranscriptEntry] = {}
        """Those that blocks are dropped of."""
        self._place = 0
        self._foreign: set[str] = set()
        """The ids in blocks and lines of kinds that nobody here knows; they may be calls or
        results."""
        self._moves: dict[_Call, Move] = {}
        self._early: dict[str, tuple[TranscriptEntry, Block]] = {}
        """Results that stand before any call of their id; one may still come."""
        self._findings: list[Finding] = []
        self._names: dict[str, str] = {}
        """What each name that was met is when it is clean."""

    def pairing(self) -> Pairing:
        for entry in self._entries:
            self._foreign.update(b.id for b in entry.blocks if b.kind == OTHER and b.id)
        for entry in self._entries:
            if entry.kind != MESSAGE:
                continue
            self._place += 1
            if entry.role == AGENT:
                self._hear(entry)
            elif entry.role == TOOL:
                self._match(entry)
            elif not (entry.by_host and self._notes_between):
                self._close()
        self._place_early()
        self._report_emptied()
        drops = [Drop(at, tuple(blocks)) for at, blocks in self._drops.items()]
        return Pairing((*self._edits, *drops, *self._brought()), tuple(self._findings))

    def _brought(self) -> list[Edit]:
        """Return the results that come to stand behind their calls, in the order of those."""
        edits: list[Edit] = []
        for call in self._in_order:
            if call in self._moves:
                edits.append(self._moves[call].replace(behind=call.answer.behind(call)))
            elif self._lacks_result(call):
                edits.append(self._answered(call))
        return edits

    def _hear(self, entry: TranscriptEntry) -> None:
        """Take in a message of the agent, or another part of it."""
        answer = self._answers.get(entry.message) if entry.message else None
        if answer is None:
            answer = _AgentMessage()
            if entry.message:
                self._answers[entry.message] = answer
        answer.entries.append(entry)
        for block in entry.blocks:
            if block.kind == CALL:
                self._take(entry, block, answer)
            elif block.kind == THINKING and block.is_error:
                self._drop(UNSIGNED, entry, block, "models refuse the thinking: it is not signed")
        if len(self._drops.get(entry.at, ())) < len(entry.blocks) or not entry.blocks:
            answer.anchor = entry.at
            answer.parts.append((self._place, entry.at))
            self._current = answer

    def _take(self, entry: TranscriptEntry, block: Block, answer: _AgentMessage) -> None:
        name = self._clean(block.name)
        lacking = _lacking(block, name)
        before = self._calls.get(block.id)
        is_again = before is not None and before.answer is answer
        if lacking:
            self._drop(INCOMPLETE, entry, block, f"the call has no {lacking}")
            if not is_again:
                self._know(_Call(entry, block, answer, "its call was incomplete"))
            return
        if is_again and before is not None and not before.void:
            self._drop(DUPLICATE, entry, block, "its answer has a call of that id already")
            return
        if name != block.name:
            self._rename(entry, block, name)
        if entry.stopped:
            self._know(_Call(entry, block, answer, "the answer with its call was broken off"))
            return
        call = _Call(entry, block, answer, "")
        is_fit = is_id(block.id, names_items=self._results_name_tools)
        if block.id not in self._foreign and (block.id in self._ids or not is_fit):
            call.id = self._free_id(block.id)
            self._edits.append(Reissue(entry.at, block.at, call.id))
            why = "an earlier call has its id" if is_fit else "models refuse its id"
            self._note(REISSUED, entry, block, f"{why}; now it is `{call.id}`")
        self._ids.add(call.id)
        self._know(call)

    def _free_id(self, id_: str) -> str:
        """Return an id that no call before has, the same whenever the same file is repaired."""
        while True:
            number = self._uses[id_] = self._uses.get(id_, 0) + 1
            if (candidate := _numbered(id_, number)) not in self._ids:
                return candidate

    def _know(self, call: _Call) -> None:
        self._in_order.append(call)
        call.answer.calls.append(call)
        self._calls[call.block.id] = call
        self._first.setdefault(call.block.id, call)

    def _match(self, entry: TranscriptEntry) -> None:
        """Find the calls of an entry's results."""
        stands, goes_on = False, True
        for block in entry.blocks:
            if block.kind != RESULT:
                goes_on = False
                continue
            call = self._calls.get(block.id)
            if call is None or call.void or call.is_answered:
                self._drop_result(entry, block, call)
                continue
            self._take_result(entry, block, call)
            if call.answer is self._current and not self._is_overtaken(call):
                stands = True
                call.stands = self._place, entry.at
            else:
                goes_on = False
                self._move(entry, block, call)
        if not stands and any(block.kind != RESULT for block in entry.blocks):
            self._close()  # without its results the entry is the user's
        if stands and goes_on and self._current is not None:
            self._current.anchor = entry.at

    def _is_overtaken(self, call: _Call) -> bool:
        """Say whether the result of a later call of the same answer stands before its own."""
        if not self._results_name_tools:
            return False  # the host puts the results into one message
        calls = call.answer.calls
        return any(later.stands for later in calls[calls.index(call) + 1 :])

    def _take_result(self, entry: TranscriptEntry, block: Block, call: _Call) -> None:
        call.is_answered = True
        if call.id != block.id:
            self._edits.append(Reissue(entry.at, block.at, call.id))
        if not self._results_name_tools:
            return
        name = self._clean(block.name) or self._clean(call.block.name)
        if name != block.name:
            self._rename(entry, block, name)

    def _drop_result(self, entry: TranscriptEntry, block: Block, call: _Call | None) -> None:
        if call is None and block.id in self._foreign:
            return
        if call is not None and call.void:
            self._drop(ORPHANED, entry, block, call.void)
        elif call is not None:
            self._drop(DUPLICATE, entry, block, "its call has a result already")
        elif block.id and block.id not in self._early:
            self._early[block.id] = entry, block
        else:
            self._drop(ORPHANED, entry, block, "no call before it has its id")

    def _place_early(self) -> None:
        """Give early results to the first call of their id, if it got none of its own.

        Some providers number the calls of each answer anew, so that a lost call's result may have
        the id of any later one; the tool's name tells them apart where results have it.
        """
        for id_, (entry, block) in self._early.items():
            call = self._first.get(id_)
            if call is None and id_ in self._foreign:
                continue
            if call is None or self._is_of_another_tool(block, call):
                self._drop(ORPHANED, entry, block, "no call of its tool has its id")
            elif not self._lacks_result(call):
                self._drop_result(entry, block, call)
            else:
                self._take_result(entry, block, call)
                self._move(entry, block, call)

    def _is_of_another_tool(self, result: Block, call: _Call) -> bool:
        name = self._clean(result.name)
        return bool(name) and name != self._clean(call.block.name)

    def _move(self, entry: TranscriptEntry, block: Block, call: _Call) -> None:
        self._moves[call] = Move(entry.at, block.at, START)
        self._note(MOVED, entry, block, "something else stood between it and its call")

    def _rename(self, entry: TranscriptEntry, block: Block, name: str) -> None:
        self._edits.append(Rename(entry.at, block.at, name))
        self._note(RENAMED, entry, block, f"its tool is named `{name}`")

    def _drop(self, kind: str, entry: TranscriptEntry, block: Block, reason: str) -> None:
        self._drops.setdefault(entry.at, []).append(block.at)
        self._lessened[entry.at] = entry
        self._note(kind, entry, block, reason)

    def _note(self, kind: str, entry: TranscriptEntry, block: Block, reason: str) -> None:
        self._findings.append(Finding(kind, entry.at, block.id, reason))

    def _clean(self, name: str) -> str:
        if name not in self._names:
            self._names[name] = clean_name(name)
        return self._names[name]

    def _close(self) -> None:
        self._current = None

    def _lacks_result(self, call: _Call) -> bool:
        return not (call.is_answered or call.void or call.block.id in self._foreign)

    def _answered(self, call: _Call) -> AddResult:
        self._note(ANSWERED, call.entry, call.block, "no result was there")
        message = MISSING.format(name=self._clean(call.block.name))
        return AddResult(call.entry.at, call.block.at, call.answer.behind(call), message)

    def _report_emptied(self) -> None:
        """Tell of messages of the agent that nothing is left of."""
        seen: set[int] = set()
        for entry in self._lessened.values():
            answer = self._answers.get(entry.message) if entry.message else None
            parts = answer.entries if answer else [entry]
            if entry.role != AGENT or parts[0].at in seen:
                continue
            seen.add(parts[0].at)
            if all(self._is_emptied(part) for part in parts):
                reason = "nothing is left of the message"
                self._findings.append(Finding(EMPTIED, parts[0].at, "", reason))

    def _is_emptied(self, entry: TranscriptEntry) -> bool:
        return len(self._drops.get(entry.at, ())) == len(entry.blocks)


def _lacking(block: Block, name: str) -> str:
    """Return what a call lacks, empty when it is complete."""
    if not block.id.strip():
        return "id that can be one"
    if not name:
        return "name that can be one"
    return "input" if block.given is None else ""


def _numbered(id_: str, number: int) -> str:
    """Return an id made of another one and a number, which all models take.

    OpenAI's ids name an item behind a bar, which belongs to the call that had the id first.
    """
    from hashlib import sha256

    digits = sha256(f"{id_} {number}".encode(errors="surrogatepass")).hexdigest()[:8]
    begins = "".join(filter(_ALLOWED.__contains__, id_.partition("|")[0])) or "call"
    return f"{begins[: LONGEST_ID - 9]}_{digits}"
