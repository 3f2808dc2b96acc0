"""Sessions that are archived, brought back and maintained."""

from __future__ import annotations

from gitguard.guard import Guard
from gitguard.sessions.archiving import bring_back, close, find_archived
from gitguard.sessions.maintenance import Maintained, Maintenance
from gitguard.store.session.archive import Archived

DAY = 86_400
GOAL = "Nothing is lost"


def at(guard: Guard, key: str) -> Guard:
    """Work at a session, with a checkpoint of its own."""
    guard.sessions.use(guard.sessions.find(key))
    guard.note({"goal": f"{GOAL} of {key}", "learnings": ["kept"]})
    return guard


def maintain(guard: Guard, mode: str = "enforce", *delete: str) -> Maintained:
    return Maintenance(guard.store(guard.any_session())).run(mode, delete=delete)


def reopen(guard: Guard, key: str, head: str = "") -> Guard:
    session, archived = find_archived(guard.store(guard.any_session()), key, head)
    bring_back(guard.store(session), archived)
    guard.sessions.use(session)
    return guard


def close_it(guard: Guard, key: str = "") -> Archived:
    return close(guard.store(guard.sessions.find(key) if key else None))


def findings(guard: Guard) -> list[str]:
    reports = guard.verify(every_session=True)
    return [finding.problem for report in reports for finding in report.findings]
