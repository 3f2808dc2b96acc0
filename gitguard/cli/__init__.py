"""The command line: words in, words out. Everything it does, the library does.

`gitguard hook` starts often, so it is answered before click is imported.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the `gitguard` command."""
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from gitguard.cli.hook import run

        run(sys.argv[2:])
    else:
        from gitguard.cli.app import run_app

        run_app()
