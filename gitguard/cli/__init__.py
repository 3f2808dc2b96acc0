"""The command line: words in, words out. Everything it does, the library does.

`gitguard hook` starts often, so it is answered before click is imported.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the `gitguard` command; Ctrl-C before its own words are there ends it as later."""
    try:
        if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
            from gitguard.cli.hook import run

            run(sys.argv[2:])
        else:
            from gitguard.cli.app import run_app

            run_app()
    except KeyboardInterrupt:
        _interrupted()


def _interrupted() -> None:
    """Say so and end, with what is loaded for certain."""
    import os

    message = b"error: interrupted\n"
    if "--json" in sys.argv:
        message = b"""{
  "error": {"kind": "Interrupted", "message": "interrupted", "hint": "", "exit_code": 130}
}
"""
    os.write(1 if "--json" in sys.argv else 2, message)
    os._exit(130)
