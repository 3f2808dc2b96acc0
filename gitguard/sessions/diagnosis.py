"""Says what is wrong with a session, and what each way out keeps and loses."""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, InvalidDocument, NewerFormat, Tampered
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.sessions.conflicts import conflicts_in
from gitguard.sessions.other_tools import state_of_other_tools
from gitguard.store.session import identity, standing, state_file
from gitguard.store.session.host_session import read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.conflicts import OpenConflict
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import OwnState, UnusableState
    from gitguard.store.session.store import SessionStore

LOCAL = "--local"
ACCEPT = "--accept"
TRUST = "--trust"
TAKE_THEIRS = "--take-theirs"
ARCHIVE_THEIRS = "--archive-theirs"
FORK = "--fork"
FORGET = "--forget"
SETTLE = "settle"
"""No option, but a command of its own."""
_VARIANT = 200
_ARCHIVE = "`refs/gitguard/archive/`"


class Way(Value):
    """One way out of a problem."""

    option: str
    """Of `gitguard repair`, where `--fork` takes the new session's name; or `settle`."""
    does: str
    keeps: str
    loses: str = ""
    """Empty where nothing is lost."""
    head: str = ""
    """The head that was looked at, which has to be named."""
    settles: tuple[str, int] | None = None
    """The conflict and the number of its variant, of a way that is `gitguard settle`."""

    @property
    def command(self) -> str:
        """The command that goes this way."""
        if self.settles is not None:
            conflict, number = self.settles
            return f"gitguard settle {conflict} {number}"
        name = " NAME" if self.option == FORK else ""
        head = f" --head {self.head}" if self.head else ""
        return f"gitguard repair {self.option}{name}{head}"


class Problem(Value):
    """Something that keeps a session from being used, or that a person has to decide."""

    kind: str
    """other-tool, damaged-record, changed-identity, missing-state, edited-state, conflict, or how
    the branch stands: advanced, moved, deleted, gone, symbolic, untrusted, remote-only or
    another-repository."""
    what: str
    ways: tuple[Way, ...]


def diagnose(store: SessionStore) -> tuple[Problem, ...]:
    """Look at a session without changing anything; no problem is an empty tuple."""
    return store.at_one_moment(lambda: tuple(_problems(store)))


def _problems(store: SessionStore) -> list[Problem]:
    head, reading = store.chain.head(), store.states.read()
    problems = [
        *_of_other_tools(store, reading.standing),
        *_of_identity(store),
        *_of_head(head, store.chain.ref),
        *_of_record(store),
    ]
    if reading.standing == state_file.EDITED and not head.replaced_repository:
        problems.append(_edited(store.states.path))
    missing = state_file.diagnose(reading)
    if missing is not None and reading.standing != state_file.EDITED:
        ways = _ways_of_missing(store, head, reading)
        problems += [Problem("missing-state", missing.message, ways)] * bool(ways)
    ready = state_file.newest_own(reading)
    return problems + [_of_conflict(c) for c in (conflicts_in(store, ready.state) if ready else ())]


def _of_conflict(conflict: OpenConflict) -> Problem:
    """Describe what several machines noted, with a way for each of their variants."""
    texts = [one_line(variant.text) for variant in conflict.variants]
    ways = tuple(
        Way(
            SETTLE,
            f"Keep {shorten(texts[at], _VARIANT)}, by {variant.author}.",
            "This variant, on all machines.",
            loses=shorten("; ".join(texts[:at] + texts[at + 1 :]), _VARIANT),
            settles=(conflict.short_id, variant.number),
        )
        for at, variant in enumerate(conflict.variants)
    )
    return Problem("conflict", f"machines disagree about the {conflict.subject}", ways)


def _ways_of_missing(
    store: SessionStore, head: Head, reading: OwnState | UnusableState
) -> tuple[Way, ...]:
    """Return the way back to a state; none where there is none, or where the branch brings it."""
    has_file = os.path.lexists(store.states.path)
    if state_file.newest_own(reading) is None and head.standing not in (
        standing.OURS,
        standing.NONE,
    ):
        return ()
    if head.standing == standing.NONE and not has_file:
        return ()
    return (_TAKE_COPY if has_file else _TAKE_COPY.replace(keeps="Everything."),)


_TAKE_COPY = Way(
    LOCAL,
    "Take this machine's newest good copy of the state.",
    "The file that is there now, under another name.",
)


def _of_other_tools(store: SessionStore, state: str) -> list[Problem]:
    if state not in (state_file.ABSENT, state_file.MISSING):
        return []
    names = state_of_other_tools(store.workspace)
    if not names:
        return []
    listed = ", ".join(f"`{name}`" for name in names)
    way = Way(
        ARCHIVE_THEIRS,
        "Archive it, so that gitguard can start.",
        "All of it, under `.gitguard/archive/`.",
    )
    return [Problem("other-tool", f"{listed} holds the task state of another tool", (way,))]


def _of_identity(store: SessionStore) -> list[Problem]:
    try:
        identity.refuse_changed(store.workspace)
    except Tampered as error:
        way = Way(
            LOCAL, "Restore the repository's identity.", "The changed file, under another name."
        )
        return [Problem("changed-identity", error.message, (way,))]
    return []


def _of_record(store: SessionStore) -> list[Problem]:
    try:
        read_record(store.workspace, store.session)
    except NewerFormat:
        raise
    except InvalidDocument as error:
        way = Way(
            LOCAL,
            "Start a new record of the conversations.",
            "The damaged file, under another name. Halts stay in force.",
            "What gitguard recorded of the conversations: turns, pressure, delivered blocks.",
        )
        return [Problem("damaged-record", error.message, (way,))]
    except GitguardError:
        return []  # whoever uses it says so
    return []


def _edited(path: str) -> Problem:
    accept = Way(
        ACCEPT, "Take the edited state, after you have reviewed the change.", "The state before it."
    )
    what = f"somebody other than gitguard edited `{path}`"
    drop = _TAKE_COPY.replace(loses="The edit.")
    return Problem("edited-state", what, (accept, drop))


def _of_head(head: Head, ref: str) -> list[Problem]:
    """Say how the branch stands to what this machine wrote."""
    if head.standing in (standing.OURS, standing.NONE) and not head.replaced_repository:
        return []
    refusal = standing.head_problem(head, ref)
    if refusal is None:
        return []
    if head.replaced_repository and head.standing != standing.UNTRUSTED:
        return [Problem("another-repository", refusal.message, (_GO_ON_HERE,))]
    what = refusal.message
    if head.standing == standing.SYMBOLIC:
        what += f"; `git symbolic-ref -d {ref}` removes it"
    return [Problem(head.standing, what, _ways_of_head(head))]


_GO_ON_HERE = Way(
    ACCEPT,
    "Continue from the state in this worktree, in a new history.",
    "What this machine knows of the old repository, in case it comes back.",
)


def _ways_of_head(head: Head) -> tuple[Way, ...]:
    theirs = head.id[:12]
    keep_ours = Way(
        FORK,
        "Continue from our state in a new session.",
        "Both: this branch is unchanged, and our state starts a new branch.",
    )
    take = Way(
        TAKE_THEIRS,
        "Take their head and its state.",
        f"Our head and state, under {_ARCHIVE}.",
        loses="The current task state is theirs; ours is only in the archive.",
        head=theirs,
    )
    trust = Way(
        TRUST,
        "Take this branch and its state, after you have reviewed it.",
        f"The current state of this worktree, under {_ARCHIVE}.",
    )
    put_back = Way(
        ARCHIVE_THEIRS,
        "Move the branch back to our newest checkpoint.",
        f"Their commits, under {_ARCHIVE}." if head.id else "Everything.",
    )
    forget = Way(
        FORGET,
        "Forget that this machine wrote this branch.",
        "The anchor, under another name in the state directory.",
        "gitguard can no longer tell whether somebody changed the branch.",
    )
    return {
        standing.ADVANCED: (take, keep_ours),
        standing.MOVED: (put_back, take, keep_ours),
        standing.DELETED: (put_back, forget),
        standing.GONE: (keep_ours,) if head.id else (keep_ours, forget),
        standing.SYMBOLIC: (keep_ours,),
        standing.UNTRUSTED: (trust,),
        standing.REMOTE_ONLY: (trust,),
    }[head.standing]
