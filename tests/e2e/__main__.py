"""`python -m tests.e2e`: fetch every host that `make e2e` runs, so that no test waits for it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from . import claude_code, openclaw_install, sealed_hosts
from .fetching import NotInstallable

_SEALED = (
    *(sealed_hosts.copilot, sealed_hosts.qwen, sealed_hosts.droid, sealed_hosts.kimi),
    *(sealed_hosts.codex, sealed_hosts.gemini, sealed_hosts.opencode, sealed_hosts.pi),
)


def main() -> int:
    """Fetch what lacks; say what could not be fetched, which the tests find out as well."""
    is_whole = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        hosts: list[Callable[[], object]] = [claude_code.install]
        hosts += [
            partial(openclaw_install.install, version) for version in openclaw_install.VERSIONS
        ]
        hosts += [partial(sealed, folder / sealed.__name__, folder, "") for sealed in _SEALED]
        for host in hosts:
            try:
                host()
            except (NotInstallable, OSError, subprocess.CalledProcessError) as error:
                is_whole = False
                print(f"a host could not be fetched: {error}", file=sys.stderr)
    return 0 if is_whole else 1


if __name__ == "__main__":
    raise SystemExit(main())
