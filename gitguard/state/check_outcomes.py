"""How the checks of a shell line ended, and which part of the output says so.

An exit code is believed only of the commands it belongs to: before a pipe, `;` or `||` it is
another program's. Then the outcome comes from the verdict that the program itself prints, and is
`ran` if there is none. Several checks can share a line; a verdict tells which of them failed.
"""

from __future__ import annotations

import re

from gitguard.model.checks import Check, Target, checks_of
from gitguard.model.outcome import has_not_started
from gitguard.model.text import late_pattern, shorten
from gitguard.model.value import Value
from gitguard.state.items import FAILED, PASSED, RAN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_LONGEST = 320
"""Characters of commands that are named together."""
_ENDING = 300
"""Characters of what is kept of an output."""
JOINED = " && "
"""Between commands of which one failed, and nothing says which."""
_DIGIT = late_pattern(r"\d")
_NOT_REACHED, _SUSPECT = "not reached", "suspect"
_BAD = r"[1-9]\d* (?:failed|failing|failures?|errors?)\b|\bFAIL"
_PYTEST = (
    r"(?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun)"
    r"(?:, )?)+ in [\d.]+s(?: \([\d:]+\))?"
)
_CARGO = (r"\bFinished `?\w+\S* (?:profile )?\[|\bcould not compile\b", r"\bcould not compile\b")
_SCRIPTS = (
    r"Tests:? +\d+ \w+(?:(?:, | \| )\d+ \w+)*(?: \(\d+\))?|\b\d+ passing\b(?: \(\w+\))?"
    r"(?: \d+ pending)?(?: \d+ failing)?|(?:\b\d+ pass )?\b\d+ fail\b|[ℹ#] fail \d+",
    r"[1-9]\d* fail|fail [1-9]",
)
"""What the runners print that a script of a package starts."""
_VERDICTS: dict[str, tuple[str, str]] = {
    "pytest": (_PYTEST, _BAD),
    "py.test": (_PYTEST, _BAD),
    "unittest": (r"Ran \d+ tests? in [\d.]+s (?:OK|FAILED)", _BAD),
    "ruff": (r"All checks passed!", r"(?!)"),
    "ruff check": (
        r"All checks passed!|Found \d+ errors?\b(?! in )(?: \(\d+ fixed, \d+ remaining\))?",
        r"\d errors?$|[1-9]\d* remaining",
    ),
    "ruff format": (
        r"\d+ files? (?:would be reformatted|reformatted|already formatted|left unchanged)"
        r"(?:, \d+ files? (?:already formatted|left unchanged))?",
        r"would be",
    ),
    "black": (
        r"\d+ files? (?:would be (?:reformatted|left unchanged)|reformatted|left unchanged)",
        r"would be reformatted",
    ),
    "mypy": (r"Success: no issues found|Found \d+ errors? in \d+ files?", r"Found"),
    "pyright": (r"\d+ errors?, \d+ warnings?", _BAD),
    "tsc": (r"\berror TS\d+|Found \d+ errors?\b", r"error TS|[1-9]\d* error"),
    "eslint": (r"\d+ problems? \(\d+ errors?, \d+ warnings?\)", _BAD),
    "jest": (r"Tests: +(?:\d+ \w+, )*\d+ total", _BAD),
    "vitest": (r"Tests +\d+ \w+(?: \| \d+ \w+)* \(\d+\)", _BAD),
    "mocha": (r"\d+ passing(?: \(\w+\))?(?: \d+ pending)?(?: \d+ failing)?", _BAD),
    **dict.fromkeys(("node --test", "bun test", "npm test", "pnpm test", "yarn test"), _SCRIPTS),
    "rspec": (r"\d+ examples?, \d+ failures?", _BAD),
    "phpunit": (
        r"\bOK \(\d+ tests?|\bTests: \d+, Assertions: \d+[^.]*",
        r"(?:rror|ailure)s: [1-9]",
    ),
    "cargo test": (r"test result: (?:ok|FAILED)\.|\bcould not compile\b", r"FAILED|not compile"),
    "cargo build": _CARGO,
    "cargo check": _CARGO,
    "cargo clippy": _CARGO,
    "go test": (r"\bok\s+\S+\s+(?:[\d.]+s|\(cached\))|\bFAIL\b", r"FAIL"),
    # dotnet speaks the user's language; the counts and their order are the same in all of them.
    "dotnet test": (
        r"\w+\s?! +- [^\d:]+: +\d+,(?: [^\d:]+: +\d+,){3} [^\d:]+: [^-]+ - \S+\.dll(?: \(\S+\))?",
        r"^\w+\s?! +- [^\d:]+: +[1-9]",
    ),
    "dotnet build": (
        r"\b\d+ [^\d\s]+ +\d+ [^\d\s]+ [^\d]{3,40}\d\d:\d\d:\d\d\.\d\d",
        r"^\d+ \D+[1-9]\d* \D",
    ),
    "gradle": (r"BUILD SUCCESSFUL|BUILD FAILED", r"FAILED"),
    "gradlew": (r"BUILD SUCCESSFUL|BUILD FAILED", r"FAILED"),
    "mvn": (r"BUILD SUCCESS|BUILD FAILURE", r"FAILURE"),
    "mvnw": (r"BUILD SUCCESS|BUILD FAILURE", r"FAILURE"),
}
"""How the verdict of each program looks in an output of one line, and what in it means failure."""


class Ended(Value):
    """How a check ended, and the part of the output that says so."""

    command: str
    outcome: str
    ending: str = ""
    targets: tuple[Target, ...] = ()
    """What ran: several where nothing tells which of them failed."""


class _ReportedResult(Value):
    """What a program says of its own run, and where in the output it stands."""

    has_failed: bool
    begin: int
    end: int


def outcomes_of(line: str, output: str, *, has_failed: bool) -> tuple[Ended, ...]:
    """Return how each check of a line ended; those that the line did not reach are left out.

    Checks of which one failed come as one, joined, if nothing tells which.
    """
    checks = checks_of(line)
    if not checks:
        return ()
    verdicts = _verdicts(checks, output)
    outcomes = _outcomes(checks, verdicts, output, has_failed=has_failed)
    suspects = [check for check in checks if outcomes[check.place] == _SUSPECT]
    if len(suspects) == 1:
        outcomes[suspects[0].place] = FAILED
    ended = [
        Ended(check.command, outcome, _ending(check, outcome, verdicts, output), (check.target,))
        for check in checks
        if (outcome := outcomes[check.place]) not in (_SUSPECT, _NOT_REACHED)
    ]
    if len(suspects) > 1:
        joined = shorten(JOINED.join(check.command for check in suspects), _LONGEST)
        targets = tuple(check.target for check in suspects)
        ended.append(Ended(joined, FAILED, _end_of(output, _ENDING), targets))
    return tuple(ended)


def _verdicts(checks: Sequence[Check], output: str) -> dict[int, _ReportedResult]:
    """Return what the programs themselves say of their checks, by the place of the check."""
    verdicts = {}
    for program in {check.target.program for check in checks} & _VERDICTS.keys():
        pattern, failure = _VERDICTS[program]
        places = [check.place for check in checks if check.target.program == program]
        matches = list(re.finditer(pattern, output))
        if len(places) == 1:
            # One run can report on several parts; of those that failed, the last one tells.
            failures = [match for match in matches if re.search(failure, match[0])]
            matches = (failures or matches)[-1:]
        if len(places) == len(matches):
            for place, match in zip(places, matches, strict=True):
                has_failed = re.search(failure, match[0]) is not None
                verdicts[place] = _ReportedResult(has_failed, match.start(), match.end())
    return verdicts


def _outcomes(
    checks: Sequence[Check],
    verdicts: Mapping[int, _ReportedResult],
    output: str,
    *,
    has_failed: bool,
) -> dict[int, str]:
    """Return the outcome of each check, by its place."""
    outcomes: dict[int, str] = {}
    failure_leads_to = suspect_leads_to = -1
    for check in checks:
        verdict = verdicts.get(check.place)
        is_to_blame = has_failed and check.owns_exit_code
        if any(check.place < place <= check.leads_to for place in verdicts):
            outcome = PASSED  # a later command spoke, which runs only after this one passed
        elif check.owns_exit_code and not has_failed:
            outcome = PASSED
        elif verdict is not None:
            # With its tests passed, a runner may still fail the line: coverage is too low.
            has_to_blame_itself = is_to_blame and check.speaks_last
            outcome = FAILED if verdict.has_failed or has_to_blame_itself else PASSED
        elif check.runs_on:
            outcome = _NOT_REACHED  # it was only started, and nothing tells how it ends
        elif check.place <= failure_leads_to or (is_to_blame and has_not_started(output)):
            outcome = _NOT_REACHED
        elif is_to_blame:
            outcome = _SUSPECT
        elif check.place <= suspect_leads_to:
            outcome = _NOT_REACHED
        else:
            outcome = RAN
        outcomes[check.place] = outcome
        if outcome == FAILED:
            failure_leads_to = max(failure_leads_to, check.leads_to)
        elif outcome == _SUSPECT:
            suspect_leads_to = max(suspect_leads_to, check.leads_to)
    return outcomes


def _ending(
    check: Check, outcome: str, verdicts: Mapping[int, _ReportedResult], output: str
) -> str:
    """Return what of the output tells how a check ended: its verdict first, if there is one."""
    verdict = verdicts.get(check.place)
    if verdict is None:
        # A program whose verdict is missing was cut off: what stands there are parts of a report.
        if outcome == PASSED:
            return _counted(output) if check.speaks_last else ""
        is_telling = (
            check.speaks_last and check.speaks_alone and check.target.program not in _VERDICTS
        )
        return _end_of(output, _ENDING) if outcome == FAILED or is_telling else ""
    summary = output[verdict.begin : verdict.end]
    if outcome == PASSED:
        return _end_of(summary, _ENDING) if _DIGIT.search(summary) else ""
    before = max((v.end for v in verdicts.values() if v.end <= verdict.begin), default=0)
    details = [output[before : verdict.begin]]
    if check.speaks_last:
        details.append(output[verdict.end :])
    detail = " ".join(filter(None, (part.strip(" =-–.") for part in details)))
    summary = _end_of(summary, _ENDING)
    room = _ENDING - len(summary) - 2
    return f"{summary}; {_end_of(detail, room)}" if detail and room > 1 else summary


def _counted(output: str) -> str:
    """Return the last count of tests or errors in an output of whatever runner, empty if none."""
    patterns = dict.fromkeys(pattern for pattern, _ in _VERDICTS.values())
    counts = [m for p in patterns for m in re.finditer(p, output) if _DIGIT.search(m[0])]
    newest = max(counts, key=lambda match: (match.end(), -match.start()), default=None)
    return _end_of(newest[0], _ENDING) if newest is not None else ""


def _end_of(text: str, limit: int) -> str:
    return text if len(text) <= limit else "…" + text[len(text) - limit + 1 :]
