"""What a command did to files, in order, as strace saw it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

CALLS: tuple[str, ...] = (
    "openat",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "ftruncate",
    "sendfile",
    "close",
    "chdir",
)
CALLS += ("rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "rmdir")
CALLS += ("mkdir", "mkdirat")
_LINE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)")
_UNFINISHED = re.compile(r"(\d+) +(\w+\(.*?) *<unfinished \.\.\.>$")
_RESUMED = re.compile(r"(\d+) +<\.\.\. \w+ resumed>(.*)$")
_NAME = re.compile(r'(?:(\d+)(?:<[^>]*>)?, )?"((?:\\x[0-9a-f]{2})*)"')
"""A name, and the open folder in which it is looked up if there is one."""
_STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


class Operation(NamedTuple):
    """One change of a file system, or a sync."""

    kind: str
    """create, truncate, write, sync, rename, link, remove or mkdir."""
    path: Path
    target: Path = Path()
    """Where it is renamed or linked to."""
    offset: int = 0
    """Where it is written, -1 at the end."""
    data: bytes = b""


def options() -> list[str]:
    """Return strace's options for such a log."""
    return ["-f", "-y", "-xx", "-s", "10000000", "-e", f"trace={named(CALLS)}"]


def named(calls: tuple[str, ...]) -> str:
    """Return calls as strace's options name them; not every processor has all of them."""
    return ",".join(f"?{call}" for call in calls)


def read_log(
    text: str, inside: tuple[Path, ...], start: Mapping[Path, bytes | None]
) -> list[Operation]:
    """Return the operations below some folders; start is what was there before them."""
    found = _Reader(start).operations(text)
    return [op for op in found if any(op.path.is_relative_to(folder) for folder in inside)]


class _Open:
    def __init__(self, path: Path, *, appends: bool) -> None:
        self.path = path
        self.offset = -1 if appends else 0


class _Reader:
    def __init__(self, start: Mapping[Path, bytes | None]) -> None:
        self._start = start
        self._folders: dict[str, Path] = {}
        self._open: dict[tuple[str, str], _Open] = {}

    def operations(self, text: str) -> Iterator[Operation]:
        for process, call, arguments, result in _calls(text):
            if result >= 0:
                strings = [_unhex(s) for s in _STRING.findall(arguments)]
                yield from self._operation(process, call, arguments, strings, result)

    def _operation(
        self, process: str, call: str, arguments: str, strings: list[bytes], result: int
    ) -> Iterator[Operation]:
        if call == "openat":
            yield from self._opened(process, arguments, self._path(process, arguments), result)
        elif call == "chdir":
            self._folders[process] = self._path(process, arguments)
        elif call.startswith(("rename", "link")):
            old, new = self._paths(process, arguments)
            yield Operation("link" if call.startswith("link") else "rename", old, new)
        elif call in ("unlink", "unlinkat", "rmdir"):
            yield Operation("remove", self._path(process, arguments))
        elif call.startswith("mkdir"):
            yield Operation("mkdir", self._path(process, arguments))
        else:
            yield from self._on_handle(process, call, arguments, strings, result)

    def _opened(self, process: str, arguments: str, path: Path, result: int) -> Iterator[Operation]:
        self._open[process, str(result)] = _Open(path, appends="O_APPEND" in arguments)
        if "O_CREAT" in arguments:
            yield Operation("create", path)
        if "O_TRUNC" in arguments:
            yield Operation("truncate", path)

    def _on_handle(
        self, process: str, call: str, arguments: str, strings: list[bytes], result: int
    ) -> Iterator[Operation]:
        handle = arguments.partition("<")[0]
        opened = self._open.get((process, handle))
        if opened is None:
            return
        if call == "close":
            del self._open[process, handle]
        elif call in ("fsync", "fdatasync"):
            yield Operation("sync", opened.path)
        elif call == "ftruncate":
            raise AssertionError("nobody shortens files here")
        elif call == "pwrite64":
            offset = int(arguments.rpartition(",")[2])
            yield Operation("write", opened.path, offset=offset, data=strings[-1][:result])
        else:
            is_copy = call == "sendfile"
            data = self._copied(process, arguments) if is_copy else strings[-1]
            yield Operation("write", opened.path, offset=opened.offset, data=data[:result])
            opened.offset += result if opened.offset >= 0 else 0

    def _copied(self, process: str, arguments: str) -> bytes:
        """Return what stands from the place on that a file is copied from, which nobody changes."""
        _, source, offset, _ = arguments.split(", ")
        data = self._start[self._open[process, source.partition("<")[0]].path]
        assert data is not None
        return data[int(offset.partition("]")[0].removeprefix("[")) :]

    def _path(self, process: str, arguments: str) -> Path:
        return next(self._paths(process, arguments))

    def _paths(self, process: str, arguments: str) -> Iterator[Path]:
        for handle, name in _NAME.findall(arguments):
            opened = self._open.get((process, handle))
            folder = opened.path if opened else self._folders.get(process, Path.cwd())
            yield Path(os.path.normpath(folder / os.fsdecode(_unhex(name))))


def _calls(text: str) -> Iterator[tuple[str, str, str, int]]:
    begun: dict[str, str] = {}
    for line in text.splitlines():
        if unfinished := _UNFINISHED.match(line):
            begun[unfinished[1]] = unfinished[2]
            continue
        if resumed := _RESUMED.match(line):
            line = f"{resumed[1]} {begun.pop(resumed[1], '')}{resumed[2]}"
        if found := _LINE.match(line):
            yield found[1], found[2], found[3], int(found[4])


def _unhex(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))
