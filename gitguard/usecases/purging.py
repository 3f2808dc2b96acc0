"""Finds secrets that were written, and takes them out of a history and of the files around it.

Only `purge` ever rewrites checkpoints. They keep their numbers, times and reasons, and say in a
trailer what was taken out. Git keeps the old objects until it collects them, and so does every
clone: both are named, because nothing here can take them back.
"""

from __future__ import annotations

import json
import os

from gitguard.context.gauge import Circumstances
from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, Pending
from gitguard.model.checkpoint import SNAPSHOT_FILE, Checkpoint
from gitguard.model.codec import STATE_FILE, sha256
from gitguard.model.config import redactor_of
from gitguard.model.redaction import Rule
from gitguard.model.text import one_line
from gitguard.model.value import Value
from gitguard.review.leaks import Cleaned, Leak, clean_checkpoint
from gitguard.store import files
from gitguard.store.rewriting import Remains, Rewriting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from gitguard.model.config import RedactionConfig
    from gitguard.model.redaction import Redactor
    from gitguard.session_store import SessionStore
    from gitguard.store.lock import Lock
    from gitguard.store.standing import Head

    Tell = Callable[[int, int], None]

_FILE_LIMIT = 4 << 20
_SHORTEST_VALUE = 6
_LIVE = frozenset({"anchor.json", "state.json", "session.json", "journal.jsonl", "config.yaml"})
"""Files that are written through their own doors."""


class Purged(Value):
    """What a purge did, or would do."""

    leaks: tuple[Leak, ...]
    """What was found, in the history, in what was set aside and in files."""
    rewritten: Mapping[str, str] = {}
    """Old commit to new, oldest first."""
    remains: Remains = Remains((), ())
    elsewhere: tuple[Leak, ...] = ()
    """What other sessions and files of the user hold as well; they were left alone."""


class Secrets:
    """The secrets that one session's history and files hold by a set of rules."""

    def __init__(self, store: SessionStore, redaction: RedactionConfig, value: str = "") -> None:
        """Look by the rules in force, and for one value that none of them may recognise."""
        self._store = store
        self._chain = store.chain
        self._rewriting = Rewriting(store.repository(), store.chain)
        self._redactor = redactor_of(redaction, value_rules(value) if value else ())

    def lock(self) -> Lock:
        """Return the session's lock."""
        return self._store.lock()

    def scan(self) -> Iterator[Leak]:
        """Yield what the history holds, what was set aside of it, and the files beside it."""
        head = self._chain.head()
        heads = {self._chain.ref: head.id} if head.id else {}
        for ref, commit in {**heads, **self._chain.archives()}.items():
            for checkpoint in self._chain.history(commit):
                yield from _leaks(ref, checkpoint, self._cleaned(checkpoint))
        for path in _own_files(self._store):
            yield from _leaks_in_file(path, self._redactor)

    def plan(self, wanted: str) -> Purged:
        """Say what would be taken out of a checkpoint and those after it.

        Raises `InvalidInput` where an older one holds a secret as well, or nothing holds any.
        """
        head = self._store.own_head()
        self._chain.refuse_checked_out(head)
        first = self._chain.find(head.id, wanted)
        leaks = tuple(self.scan())
        history = tuple(self._chain.history(head.id))
        numbers = {c.id: c.sequence for c in history}
        older = [
            leak for leak in leaks if numbers.get(leak.commit, first.sequence) < first.sequence
        ]
        if older:
            raise InvalidInput(
                f"{older[-1].checkpoint} holds a secret as well ({older[-1].rule}), and comes "
                f"before {first.name}",
                f"Run `gitguard purge {older[-1].checkpoint}`, which takes both out",
            )
        if not leaks and not any(c.purged for c in history if c.sequence >= first.sequence):
            raise InvalidInput(
                f"nothing in {first.name}, after it or beside it looks like a secret",
                "Name the value itself on standard input: `gitguard purge CHECKPOINT "
                "--value-stdin`",
            )
        return Purged(leaks)

    def purge(self, wanted: str, reason: str, tell: Tell | None = None) -> Purged:
        """Take secrets out of a checkpoint, of those after it and of the files around them.

        The caller holds the session's lock. tell is called with how many checkpoints are written
        of how many. A purge that was cut off is run again.
        """
        plan = self.plan(wanted)
        self._store.workspace.redactor = self._redactor  # what is written now holds none either
        _clean_working_files(self._store)
        head = self._store.own_head()
        first = self._chain.find(head.id, wanted)
        old = [c for c in self._chain.history(head.id) if c.sequence >= first.sequence]
        new = self._rewrite(old[::-1], tell)
        said = self._redactor.text(reason) or "no reason was given"
        done = f"purged from {first.name} on: {said}"
        self._replace_head(head, new[head.id], done)
        new.update(self._rewrite_archives(new))
        saved = self._store.checkpoint("manual", f"Secrets were {done}.", Circumstances())
        if saved.pending:
            raise Pending(f"the history is clean, the files are not yet: {saved.pending}")
        for path in _own_files(self._store):
            _clean_file(path, self._redactor)
        self._rewriting.forget_movements()
        changed = {before: after for before, after in new.items() if before != after}
        heads = (saved.commit or new[head.id], *self._chain.archives().values())
        return plan.replace(rewritten=changed, remains=self._rewriting.remains(changed, heads))

    def newest_of(self, stores: Iterable[SessionStore]) -> tuple[Leak, ...]:
        """Return what the newest checkpoints of other sessions hold."""
        leaks: list[Leak] = []
        for store in stores:
            try:
                head = store.chain.head()
                found = store.chain.read(head.id) if head.id else None
            except GitguardError:
                continue  # what does not read cannot be looked through; `verify` says why
            if found is not None:
                cleaned = clean_checkpoint(found.contents, "", self._redactor)
                leaks += _leaks(store.chain.ref, found.checkpoint, cleaned)
        return tuple(leaks)

    # The history

    def _cleaned(self, checkpoint: Checkpoint) -> Cleaned:
        contents = self._chain.read(checkpoint.id).contents
        message = self._rewriting.message(checkpoint.id)
        return clean_checkpoint(contents, message, self._redactor)

    def _rewrite(self, checkpoints: list[Checkpoint], tell: Tell | None) -> dict[str, str]:
        """Write checkpoints anew, oldest first, where they or one before them holds a secret."""
        new: dict[str, str] = {}
        for number, checkpoint in enumerate(checkpoints, start=1):
            new[checkpoint.id] = self._rewritten(checkpoint, new)
            if tell is not None:
                tell(number, len(checkpoints))
        return new

    def _rewritten(
        self, checkpoint: Checkpoint, new: Mapping[str, str], *, aside: bool = False
    ) -> str:
        cleaned = self._cleaned(checkpoint)
        parent = new.get(checkpoint.parent, checkpoint.parent)
        if not cleaned.findings and parent == checkpoint.parent:
            return checkpoint.id
        rules = tuple(dict.fromkeys(finding.rule for finding in cleaned.findings))
        return self._rewriting.write(
            checkpoint, cleaned.contents, cleaned.message, parent, rules, aside=aside
        )

    def _replace_head(self, head: Head, new: str, done: str) -> None:
        if new == head.id:
            return
        assert head.anchor is not None
        contents = self._chain.read(new).contents
        self._rewriting.replace_head(head.anchor, new, sha256(contents[STATE_FILE]), done)
        self._store.write_snapshot(contents[SNAPSHOT_FILE])

    def _rewrite_archives(self, known: Mapping[str, str]) -> dict[str, str]:
        """Do the same for what was set aside, under refs that name the new commits."""
        new = dict(known)
        for ref, commit in self._chain.archives().items():
            for checkpoint in list(self._chain.history(commit))[::-1]:
                if checkpoint.id not in new:
                    new[checkpoint.id] = self._rewritten(checkpoint, new, aside=True)
            if new[commit] != commit:
                self._chain.archive(new[commit], "gitguard: purged")
                self._rewriting.drop(ref, commit)
        return new


def value_rules(value: str) -> tuple[Rule, ...]:
    """Return rules that find one value, also in one line, line by line and as JSON writes it."""
    from re import escape

    plain = (value, one_line(value))
    once = [said for text in plain for said in _in_json(text)]
    # The copy of a state is JSON in JSON.
    twice = [said for text in once for said in _in_json(text)]
    written = (*plain, *once, *twice)
    lines = (line.strip() for text in written for line in text.splitlines())
    texts = dict.fromkeys(text for text in (*written, *lines) if len(text) >= _SHORTEST_VALUE)
    if not texts:
        raise InvalidInput(
            f"the value has fewer than {_SHORTEST_VALUE} characters; too much else would match it"
        )
    longest_first = sorted(texts, key=len, reverse=True)
    return tuple(Rule("named-value", (text.lower(),), escape(text)) for text in longest_first)


def _in_json(text: str) -> tuple[str, ...]:
    return tuple(json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (True, False))


def _leaks(ref: str, checkpoint: Checkpoint, cleaned: Cleaned) -> Iterator[Leak]:
    for found in cleaned.findings:
        yield Leak(ref, checkpoint.name, checkpoint.id, found.rule, found.path)


# The files


def _clean_working_files(store: SessionStore) -> None:
    """Write state, journal and the record of conversations again; writing takes secrets out."""
    found, part = store.fold(store.state())
    assert found.state is not None
    anew = store.journal.restart(part.entries)
    store.states.write(found.state, found, journal_id=anew.id, journal_offset=anew.end)
    store.write_summary(found.state)
    record = store.workspace.read_record(store.session)
    store.workspace.write_record(store.session, record)


def _own_files(store: SessionStore) -> Iterator[str]:
    """Yield the files beside the history that may hold what a session held."""
    workspace, session = store.workspace, store.session
    folders = (
        workspace.session_folder(session),
        workspace.anchor_folder(session),
        os.path.join(workspace.folder, "archive"),
    )
    for folder in folders:
        for place, _, names in os.walk(folder):
            yield from (os.path.join(place, name) for name in sorted(names))
    for folder in (workspace.folder, workspace.state_folder):
        yield os.path.join(folder, "faults.jsonl")
    yield os.path.join(workspace.places.state_home, "crash.log")


def _read_text(path: str) -> str:
    try:
        data = files.read_bytes(path, limit=_FILE_LIMIT)
    except InvalidDocument:
        return ""
    return (data or b"").decode("utf-8", "surrogateescape")


def _leaks_in_file(path: str, redactor: Redactor) -> Iterator[Leak]:
    for found in redactor.find(_read_text(path)):
        yield Leak(path, "", "", found.rule, os.path.basename(path))


def _clean_file(path: str, redactor: Redactor) -> None:
    """Take secrets out of a file that nobody reads back."""
    if os.path.basename(path) in _LIVE:
        return
    text = _read_text(path)
    clean = redactor.text(text)
    if clean != text:
        files.write_bytes(path, clean.encode("utf-8", "surrogateescape"))
