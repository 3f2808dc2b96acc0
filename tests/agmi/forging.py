"""What somebody can do who may write anything inside a repository, and nothing outside it.

Objects are read and written as plain files here, by the ids they are asked for and unchecked, with
replacements followed as git follows them.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

from gitguard.model.codec import STATE_FILE, SUMMARY_FILE, load_json
from gitguard.state.checkpoint import FILES, SNAPSHOT_FILE
from gitguard.state.task import read_state
from gitguard.store.session.composing import render_summary

SEQUENCE = "Sequence"


@dataclass(frozen=True)
class Entry:
    """One checkpoint as an attacker sees it: its commit, its files, and where they lie."""

    commit: str
    headers: str
    """Author and committer."""
    message: str
    contents: dict[str, bytes]
    tree: str = ""
    blobs: dict[str, str] | None = None

    def with_state(self, state: str) -> Entry:
        """Return the checkpoint with another state and a summary that fits."""
        data = state.encode()
        summary = render_summary(read_state(load_json(data, what="it"))).encode()
        return replace(self, contents={**self.contents, STATE_FILE: data, SUMMARY_FILE: summary})

    def trailers(self) -> dict[str, str]:
        """Return what the message says in its last lines."""
        return dict(re.findall(r"^Gitguard-([\w-]+): (.*)$", self.message, re.MULTILINE))

    def with_trailers(self, trailers: dict[str, str]) -> Entry:
        """Return the checkpoint with other last lines."""
        kept = re.sub(r"^Gitguard-.*\n", "", self.message, flags=re.MULTILINE)
        lines = "".join(f"Gitguard-{name}: {value}\n" for name, value in trailers.items())
        return replace(self, message=kept + lines)

    def at(self, number: int) -> Entry:
        """Return the checkpoint as number so and so of its chain."""
        message = re.sub(r"^checkpoint \d+:", f"checkpoint {number}:", self.message)
        message = re.sub(r"(?m)^(Gitguard-Sequence: ).*$", rf"\g<1>{number}", message)
        text = self.contents[SNAPSHOT_FILE].decode()
        text = re.sub(r"(?m)^(\s*checkpoint_id: ).*$", rf'\g<1>"cp_{number:03d}"', text)
        contents = {**self.contents, SNAPSHOT_FILE: text.encode()}
        return replace(self, message=message, contents=contents)


class RawRepository:
    """A git directory as plain files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git = root / ".git"

    def _file(self, object_id: str) -> Path:
        return self.git / "objects" / object_id[:2] / object_id[2:]

    def read(self, object_id: str) -> bytes:
        """Return an object as git shows it."""
        replaced = self.git / "refs" / "replace" / object_id
        if replaced.exists():
            return self.read(replaced.read_text().strip())
        return zlib.decompress(self._file(object_id).read_bytes()).partition(b"\0")[2]

    def write(self, kind: str, data: bytes, name: str = "") -> str:
        """Write an object under its own id, or under any other name."""
        head = f"{kind} {len(data)}\0".encode()
        name = name or hashlib.sha1(head + data).hexdigest()
        path = self._file(name)
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(zlib.compress(head + data))
        return name

    def ref(self, session: str) -> Path:
        return self.git / "refs" / "heads" / "gitguard" / session

    def head(self, session: str) -> str:
        return self.ref(session).read_text().strip()

    def replace(self, object_id: str, other: str) -> None:
        """Let git show one object for another."""
        path = self.git / "refs" / "replace" / object_id
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{other}\n")

    def chain(self, session: str) -> list[Entry]:
        """Return the checkpoints of a session, the oldest first."""
        found: list[Entry] = []
        commit = self.head(session)
        while commit:
            entry, commit = self._entry(commit)
            found.append(entry)
        return found[::-1]

    def _entry(self, commit: str) -> tuple[Entry, str]:
        head, _, message = self.read(commit).decode().partition("\n\n")
        lines = head.split("\n")
        named = dict(line.split(" ", 1) for line in lines)
        headers = "\n".join(line for line in lines if not line.startswith(("tree ", "parent ")))
        blobs = dict(self._tree(named["tree"]))
        contents = {name: self.read(blob) for name, blob in blobs.items()}
        return Entry(commit, headers, message, contents, named["tree"], blobs), named.get(
            "parent", ""
        )

    def _tree(self, tree: str) -> list[tuple[str, str]]:
        data, found = self.read(tree), []
        while data:
            name, _, data = data.partition(b" ")[2].partition(b"\0")
            found.append((name.decode(), data[:20].hex()))
            data = data[20:]
        return found

    def write_tree(self, blobs: dict[str, str], name: str = "") -> str:
        parts = (f"100644 {n}\0".encode() + bytes.fromhex(blobs[n]) for n in sorted(blobs))
        return self.write("tree", b"".join(parts), name)

    def write_commit(self, tree: str, parent: str, entry: Entry, name: str = "") -> str:
        above = f"parent {parent}\n" if parent else ""
        body = f"tree {tree}\n{above}{entry.headers}\n\n{entry.message}"
        return self.write("commit", body.encode(), name)

    def commit(self, entry: Entry, parent: str) -> str:
        """Write a checkpoint as git would, every object under its own id."""
        blobs = {name: self.write("blob", data) for name, data in entry.contents.items()}
        return self.write_commit(self.write_tree(blobs), parent, entry)


class Attacker:
    """Puts another chain of checkpoints in the place of a session's own."""

    name = ""

    def __init__(self, root: Path) -> None:
        self.raw = RawRepository(root)

    def put(self, session: str, wanted: list[Entry]) -> None:
        """Let the session's branch show these checkpoints, numbered without a gap."""
        now = self.raw.chain(session)
        numbered = [entry.at(number) for number, entry in enumerate(wanted, 1)]
        if numbered != now:
            self.forge(session, now, numbered)

    def forge(self, session: str, now: list[Entry], wanted: list[Entry]) -> None:
        raise NotImplementedError

    def _rewrite(self, now: list[Entry], wanted: list[Entry], *, not_reused: str = "") -> str:
        """Write a chain that is sound in itself, on the genuine commits that it begins with."""
        parent, is_genuine = "", True
        for number, entry in enumerate(wanted):
            is_genuine = is_genuine and now[number : number + 1] == [entry]
            if is_genuine and entry.commit != not_reused:
                parent = entry.commit
                continue
            if entry.commit == not_reused:
                entry = replace(entry, message=entry.message + "\n")
            parent = self.raw.commit(entry, parent)
        return parent


class ChainRewrite(Attacker):
    """Writes fresh commits and moves the branch; every hash is right."""

    name = "chain rewrite"

    def forge(self, session: str, now: list[Entry], wanted: list[Entry]) -> None:
        self.raw.ref(session).write_text(self._rewrite(now, wanted) + "\n")


class Replacement(Attacker):
    """Leaves the branch alone and lets git show another commit for its head."""

    name = "`refs/replace`"

    def forge(self, session: str, now: list[Entry], wanted: list[Entry]) -> None:
        head = self.raw.head(session)
        self.raw.replace(head, self._rewrite(now, wanted, not_reused=head))


class InPlaceEdit(Attacker):
    """Leaves every name alone and changes what lies under it."""

    name = "in-place object edit"

    def forge(self, session: str, now: list[Entry], wanted: list[Entry]) -> None:
        slots = self._slots(now, len(wanted))
        parent = ""
        for entry, slot in zip(wanted, slots, strict=True):
            assert slot.blobs is not None
            for name in FILES:
                if entry.contents[name] != slot.contents.get(name):
                    self.raw.write("blob", entry.contents[name], slot.blobs[name])
            if slot.tree not in {other.tree for other in now}:
                self.raw.write_tree(slot.blobs, slot.tree)
            self.raw.write_commit(slot.tree, parent, entry, slot.commit)
            parent = slot.commit

    def _slots(self, now: list[Entry], count: int) -> list[Entry]:
        """Return where each checkpoint is to lie; the last one under the branch's own id."""
        names = [entry.blobs or {} for entry in now]
        used = [blob for blobs in names for blob in blobs.values()]
        assert len(used) == len(set(used)), "an edit of one checkpoint would change another"
        new = [self._empty_slot() for _ in range(count - len(now))]
        return [*now[:-1][: count - 1], *new, now[-1]]

    def _empty_slot(self) -> Entry:
        blobs = {name: os.urandom(20).hex() for name in FILES}
        return Entry(os.urandom(20).hex(), "", "", {}, os.urandom(20).hex(), blobs)
