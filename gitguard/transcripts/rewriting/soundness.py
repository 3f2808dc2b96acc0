"""Whether a conversation needs nothing, decided line by line, so that no entry has to be kept.

The verdict "sound" is only given where `repair` would find nothing to do; whatever is unusual gets
none, and the file is looked through again with all its entries kept. Of ids that may not come twice
only a hash is remembered, a third of their size: two ids that share one by chance cost that second
look, and nothing else.
"""

from __future__ import annotations

from gitguard.model.conversation import AGENT, CALL, MESSAGE, RESULT, THINKING, TOOL, UNKNOWN, Block
from gitguard.transcripts.rewriting.pairing import clean_name, is_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.transcripts.rewriting.tree import Writable


class Soundness:
    """What has to be remembered of a conversation's beginning to judge the next entry.

    It holds while no two entries share an id, and each result stands right behind the answer with
    its call: the cases in which `pairing.pair` changes nothing, whatever comes.
    """

    def __init__(self, writable: Writable) -> None:
        """Begin with no entries."""
        self._notes_between = writable.NOTES_BETWEEN
        self._results_name_tools = writable.RESULTS_NAME_TOOLS
        self._entries: set[int] = set()
        """The hashes of the ids of entries."""
        self._calls: set[int] = set()
        """The hashes of the ids of calls."""
        self._answer: object = None
        """The answer behind which nothing was said yet: its id, or what stands for one."""
        self._open: dict[str, object] = {}
        """The answers of calls that have no result yet, by the calls' ids."""
        self._clean_names: set[str] = set()

    @property
    def is_complete(self) -> bool:
        """Whether every call has its result."""
        return not self._open

    def takes(self, fields: dict[str, Any]) -> bool:
        """Take in the next entry, as a format's `sketch` returns it; say whether all is sound."""
        # Files have hundreds of thousands of entries, so nothing is called that need not be.
        if fields["id"]:
            before = len(self._entries)
            self._entries.add(hash(fields["id"]))
            if len(self._entries) == before:
                return False
        if fields["kind"] != MESSAGE:
            return fields["kind"] != UNKNOWN or "blocks" not in fields
        role = fields["role"]
        if role == AGENT:
            return self._hears(fields)
        if role == TOOL:
            return self._matches(fields["blocks"])
        if not (self._notes_between and fields.get("by_host")):
            self._answer = None
        return True

    def _hears(self, fields: dict[str, Any]) -> bool:
        """Take in a message of the agent, or a part of one; say whether its calls are sound."""
        answer = self._answer = fields.get("message") or object()
        for block in fields["blocks"]:
            if block.kind == THINKING and block.is_error:
                return False
            if block.kind != CALL:
                continue
            if fields.get("stopped") or not self._calls_soundly(block):
                return False
            self._open[block.id] = answer
        return True

    def _calls_soundly(self, call: Block) -> bool:
        """Say whether a call lacks nothing, and has an id that none before has."""
        before = len(self._calls)
        self._calls.add(hash(call.id))
        is_new = len(self._calls) > before
        is_fit = is_id(call.id, names_items=self._results_name_tools)
        return is_new and is_fit and call.given is not None and self._is_clean(call.name)

    def _matches(self, blocks: tuple[Block, ...]) -> bool:
        """Say whether there are results, and all are of calls of the answer before them."""
        has_result = False
        for block in blocks:
            if block.kind != RESULT:
                continue
            has_result = True
            if self._results_name_tools and block.id != next(iter(self._open), ""):
                return False  # results that are messages stand in the order of their calls
            if block.id not in self._open or self._open.pop(block.id) != self._answer:
                return False
            if self._results_name_tools and not self._is_clean(block.name):
                return False
        return has_result

    def _is_clean(self, name: str) -> bool:
        if name in self._clean_names:
            return True
        if not name or clean_name(name) != name:
            return False
        self._clean_names.add(name)
        return True
