"""A folder that refuses to be written, and a process that has to obey, even root's."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_VERSION = 0x20080522
_DROP_FROM_BOUNDS = 24
_OVERRIDE, _READ_SEARCH = 1, 2
"""The capabilities by which root passes over permissions."""


@contextmanager
def sealed(folder: Path) -> Iterator[None]:
    """Take the right to write from a folder and those in it, unless its disk took it already."""
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        yield
        return
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in folders}
    for path in folders:
        path.chmod(0o555)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def obey_permissions() -> None:
    """Let permissions hold for this process and all it starts; there is no way back."""
    if os.geteuid() != 0:
        return
    library = ctypes.CDLL(None)
    for capability in (_OVERRIDE, _READ_SEARCH):
        library.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    library.capget(header, sets)
    keep = ~(1 << _OVERRIDE | 1 << _READ_SEARCH) & 0xFFFFFFFF
    for place in range(3):
        sets[place] &= keep
    library.capset(header, sets)
