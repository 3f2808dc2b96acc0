"""Finds secrets that were written, and takes them out of a history and of the files around it.

Only `purge` ever rewrites checkpoints. They keep their numbers, times and reasons, and say in a
trailer what was taken out. Git keeps the old objects until it collects them, and so does every
clone: both are named, because nothing here can take them back.
"""

from __future__ import annotations

import json

from gitguard.errors import GitguardError, InvalidInput, Pending
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE, sha256
from gitguard.model.config.redaction import redactor_of
from gitguard.model.redaction.rules import Rule
from gitguard.model.text import one_line
from gitguard.model.value import Value
from gitguard.sessions.choice import refuse_unknown
from gitguard.sessions.secrets.cleaning import SessionFiles
from gitguard.sessions.secrets.leaks import NAMED_VALUE, UNREAD, Cleaned, Leak, clean_checkpoint
from gitguard.sessions.secrets.snapshot_leaks import SnapshotSecrets
from gitguard.state.checkpoint import SNAPSHOT_FILE
from gitguard.state.circumstances import Circumstances
from gitguard.store.session.archive import SessionArchive
from gitguard.store.session.lanes import forget_own_lane
from gitguard.store.session.rewriting import PastCheckpoint, Remains, Rewriting
from gitguard.store.session.tombstones import Tombstones

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from gitguard.model.config.redaction import RedactionConfig
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.disk.lock import Lock
    from gitguard.store.session.standing import Head
    from gitguard.store.session.store import SessionStore

    Tell = Callable[[int, int], None]

_SHORTEST_VALUE = 6


class Purged(Value):
    """What a purge did, or would do."""

    leaks: tuple[Leak, ...]
    """What was found, in the history, in what was set aside and in files."""
    rewritten: Mapping[str, str] = {}
    """Old commit to new, oldest first."""
    remains: Remains = Remains()
    elsewhere: tuple[Leak, ...] = ()
    """What is left in files and other sessions, which were left alone."""


class SessionSecrets:
    """The secrets that one session's history and files hold by a set of rules."""

    def __init__(self, store: SessionStore, redaction: RedactionConfig, value: str = "") -> None:
        """Look by the rules in force, and for one value that none of them may recognise."""
        self._store = store
        self._chain = store.chain
        self._rewriting = Rewriting(store.repository(), store.chain)
        self._redactor = redactor_of(redaction, value_rules(value) if value else ())
        self._files = SessionFiles(store, self._redactor)
        self._value = value
        self._snapshots = SnapshotSecrets(store, self._redactor, value)
        self._cleaned: dict[str, Cleaned] = {}

    def lock(self) -> Lock:
        """Return the session's lock."""
        return self._store.lock()

    def scan(self, tell: Tell | None = None) -> Iterator[Leak]:
        """Yield what the history holds, what was set aside of it, and the files beside it.

        tell is called with how many checkpoints of the history are looked through, of how many.
        """
        refuse_unknown(self._store)
        head = self._chain.head()
        if head.id:
            yield from self._leaks(self._chain.ref, self._rewriting.past(head.id), tell)
        for ref, past in self._archives():
            if past is None:
                yield Leak(ref, "", "", rule=UNREAD, path=ref)
            else:
                yield from self._leaks(ref, past)
        yield from self._files.leaks()
        yield from self._snapshots.leaks()

    def plan(self, name: str) -> Purged:
        """Say what would be taken out of a checkpoint and those after it.

        Raises `InvalidInput` where an older one holds a secret as well, or nothing holds any.
        """
        head = self._store.own_head()
        self._chain.refuse_checked_out(head)
        first = self._chain.find(head.id, name)
        leaks = tuple(self.scan())
        history = tuple(self._chain.history(head.id))
        older = {c.id for c in history if c.sequence < first.sequence}
        before = [leak for leak in leaks if leak.commit in older]
        if before:
            raise InvalidInput(
                f"{before[-1].checkpoint} also holds a secret ({before[-1].rule}), and comes "
                f"before {first.name}",
                f"Run `gitguard purge {before[-1].checkpoint}`, which takes both out",
            )
        if not leaks and not any(c.purged for c in history if c.sequence >= first.sequence):
            raise InvalidInput(
                f"nothing in {first.name}, after it or beside it looks like a secret",
                "Name the value itself on standard input: `gitguard purge CHECKPOINT "
                "--value-stdin`",
            )
        return Purged(leaks)

    def purge(self, name: str, reason: str, tell: Tell | None = None) -> Purged:
        """Take secrets out of a checkpoint, of those after it and of the files around them.

        The caller holds the session's lock. tell is called with how many checkpoints are written
        of how many. A purge that was cut off is run again.
        """
        plan = self.plan(name)
        usual = self._store.workspace.redactor
        self._chain.anchors.forget_indexes()
        self._files.rewrite()
        self._snapshots.forget()
        head = self._store.own_head()
        first = self._chain.find(head.id, name)
        past = [p for p in self._rewriting.past(head.id) if p.checkpoint.sequence >= first.sequence]
        old = {p.checkpoint.id: p.objects for p in past[::-1]}
        new = self._rewrite(past[::-1], tell)
        self._remember(past)
        why = self._redactor.text(reason) or "no reason was given"
        movement = f"purged from {first.name} on: {why}"
        self._replace_head(head, new[head.id], movement)
        old |= self._rewrite_archives(new)
        saved = self._store.checkpoint(
            triggers.MANUAL, f"Secrets were {movement}.", Circumstances()
        )
        if saved.pending:
            raise Pending(f"the history is clean, the files are not yet: {saved.pending}")
        self._files.clean()
        self._forget_rules(usual)
        self._rewriting.forget_movements()
        self._rewriting.forget_published(self._store.session.name)
        forget_own_lane(self._store)
        changed = {before: after for before, after in new.items() if before != after}
        remains = self._rewriting.remains({commit: old[commit] for commit in changed})
        return plan.replace(
            rewritten=changed, remains=remains, elsewhere=tuple(self._files.leaks())
        )

    def held_by(self, stores: Iterable[SessionStore]) -> tuple[Leak, ...]:
        """Return what the histories of other sessions hold, and the snapshots of their files."""
        leaks: list[Leak] = []
        for store in stores:
            ref = store.chain.ref
            try:
                head = store.chain.head()
                past = Rewriting(store.repository(), store.chain).past(head.id) if head.id else []
            except GitguardError:
                leaks.append(Leak(ref, "", "", rule=UNREAD, path=ref))
                continue
            leaks += self._leaks(ref, past)
            leaks += SnapshotSecrets(store, self._redactor, self._value).leaks()
        return tuple(leaks)

    # The history

    def _leaks(
        self, ref: str, past: list[PastCheckpoint], tell: Tell | None = None
    ) -> Iterator[Leak]:
        for number, version in enumerate(past, start=1):
            checkpoint = version.checkpoint
            for finding in self._clean(version).findings:
                yield Leak(
                    ref, checkpoint.name, checkpoint.id, rule=finding.rule, path=finding.path
                )
            if tell is not None:
                tell(number, len(past))

    def _clean(self, past: PastCheckpoint) -> Cleaned:
        commit = past.checkpoint.id
        if commit not in self._cleaned:
            cleaned = clean_checkpoint(past.contents, past.message, self._redactor)
            self._cleaned[commit] = cleaned
        return self._cleaned[commit]

    def _rewrite(self, past: list[PastCheckpoint], tell: Tell | None) -> dict[str, str]:
        """Write checkpoints anew, oldest first, where they or one before them holds a secret."""
        new: dict[str, str] = {}
        for number, version in enumerate(past, start=1):
            new[version.checkpoint.id] = self._rewritten(version, new)
            if tell is not None:
                tell(number, len(past))
        return new

    def _rewritten(
        self, past: PastCheckpoint, new: Mapping[str, str], *, aside: bool = False
    ) -> str:
        cleaned, checkpoint = self._clean(past), past.checkpoint
        parent = new.get(checkpoint.parent, checkpoint.parent)
        if not cleaned.findings and parent == checkpoint.parent:
            return checkpoint.id
        rules = tuple(dict.fromkeys(finding.rule for finding in cleaned.findings))
        return self._rewriting.write(
            checkpoint, cleaned.contents, cleaned.message, parent=parent, rules=rules, aside=aside
        )

    def _remember(self, past: list[PastCheckpoint]) -> None:
        """Remember what is taken out, before it is, so that nobody's lane brings it back."""
        leaking = [version for version in past if self._clean(version).findings]
        Tombstones(self._store.workspace).remember(
            (version.contents[STATE_FILE] for version in leaking),
            (self._clean(version).contents[STATE_FILE] for version in leaking),
        )

    def _replace_head(self, head: Head, new: str, movement: str) -> None:
        if new == head.id:
            return
        contents = self._chain.read(new).contents
        self._rewriting.replace_head(head.own_anchor, new, sha256(contents[STATE_FILE]), movement)
        self._store.write_snapshot(contents[SNAPSHOT_FILE])

    def _archives(self) -> Iterator[tuple[str, list[PastCheckpoint] | None]]:
        """Yield what was set aside: full ref and history, None where that is not sound."""
        for ref, commit in self._chain.archives().items():
            try:
                yield ref, self._rewriting.past(commit)
            except GitguardError:
                yield ref, None

    def _rewrite_archives(self, new: dict[str, str]) -> dict[str, tuple[str, ...]]:
        """Do the same for what was set aside; add to new, and return the old ones' objects."""
        old: dict[str, tuple[str, ...]] = {}
        for ref, past in list(self._archives()):
            for version in (past or [])[::-1]:
                old[version.checkpoint.id] = version.objects
                if version.checkpoint.id not in new:
                    new[version.checkpoint.id] = self._rewritten(version, new, aside=True)
            commit = past[0].checkpoint.id if past else ""
            if commit and new[commit] != commit:
                self._chain.archive(new[commit], "gitguard: purged")
                self._follow(commit, new[commit])
                self._rewriting.drop(ref, commit)
        return old

    def _follow(self, old: str, new: str) -> None:
        """Let the anchor of an archived session follow its head."""
        contents = self._chain.read(new).contents
        archive = SessionArchive(
            self._store.workspace, self._store.repository(), self._chain, self._store.session
        )
        archive.follow(old, new, sha256(contents[STATE_FILE]))

    def _forget_rules(self, usual: Redactor) -> None:
        """Write the state by the usual rules again; a hash of others could give a value away."""
        self._store.workspace.redactor = usual
        ready = self._store.state()
        self._store.states.write(ready.state, ready)


def value_rules(value: str) -> tuple[Rule, ...]:
    """Return rules that find one value, also in one line, line by line and as JSON writes it."""
    from re import escape

    plain = (value, one_line(value))
    once = [written_form for text in plain for written_form in _in_json(text)]
    # The copy of a state is JSON in JSON.
    twice = [written_form for text in once for written_form in _in_json(text)]
    written = (*plain, *once, *twice)
    lines = (line.strip() for text in written for line in text.splitlines())
    texts = dict.fromkeys(text for text in (*written, *lines) if len(text) >= _SHORTEST_VALUE)
    if not texts:
        raise InvalidInput(
            f"the value has fewer than {_SHORTEST_VALUE} characters; too much else would match it"
        )
    longest_first = sorted(texts, key=len, reverse=True)
    return tuple(Rule(NAMED_VALUE, (text.lower(),), escape(text)) for text in longest_first)


def _in_json(text: str) -> tuple[str, ...]:
    return tuple(json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (True, False))
