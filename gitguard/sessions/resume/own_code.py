"""One line on how the user's own code stands, from git and from nobody's words."""

from __future__ import annotations

from gitguard.errors import GitFailed, InvalidDocument
from gitguard.model.commit import parse_commit
from gitguard.model.text import one_line
from gitguard.store.git.upstream import upstream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.state.checkpoint import Code
    from gitguard.store.git.repository import Repository

_SHORT_ID = 7
_MOST_NAMES = 3
_NAME, _SUBJECT = 48, 80
_COMMIT_LIMIT = 64 * 1024


def standing_of_code(repository: Repository, redactor: Redactor, code: Code) -> str:
    """Return what is not committed, what is not pushed, and the commit that is checked out.

    Empty before the first commit. What git does not tell is left out. What is long stands last,
    because a block cuts the end.
    """
    if not code.head:
        return ""
    paths, is_clean = _uncommitted(repository, redactor, code.head)
    parts = (
        "nothing to commit" if is_clean else _count_of(paths),
        redactor.text(_pushed(repository, code.branch)),
        f"HEAD {code.head[:_SHORT_ID]}{_subject(repository, redactor, code.head)}",
        files_named("not committed", paths, redactor),
    )
    return "; ".join(part for part in parts if part)


def files_named(what: str, paths: tuple[str, ...], redactor: Redactor) -> str:
    """Return a few of the paths behind what is to be said of all of them, empty for none."""
    if not paths:
        return ""
    # A file may be named after a secret, so names are redacted before they are cut.
    names = [redactor.shorten(one_line(path), _NAME) for path in paths[:_MOST_NAMES]]
    more = len(paths) - len(names)
    return f"{what}: {', '.join(names)}" + (f" and {more:,} more" if more else "")


def _subject(repository: Repository, redactor: Redactor, commit: str) -> str:
    try:
        with repository.reader() as reader:
            message = parse_commit(reader.read(commit, "commit", limit=_COMMIT_LIMIT)).message
    except (GitFailed, InvalidDocument):
        return ""
    subject = redactor.shorten(message.partition("\n")[0], _SUBJECT)
    return f" — {subject}" if subject else ""


def _count_of(paths: tuple[str, ...]) -> str:
    return f"{len(paths):,} file{'s' * (len(paths) > 1)} not committed" if paths else ""


def _uncommitted(
    repository: Repository, redactor: Redactor, commit: str
) -> tuple[tuple[str, ...], bool]:
    """Return the files that differ from a commit, and whether all was compared and none does."""
    from gitguard.store.git.differences import WorktreeComparer

    changes = WorktreeComparer(repository, redactor).compare(commit).changes()
    paths = repository.without_tools_files((*changes.changed, *changes.gone))
    return paths, not paths and not changes.unseen


def _pushed(repository: Repository, branch: str) -> str:
    upstream = upstream_of(repository.git, branch) if branch else ""
    name, _, apart = upstream.partition(", ")
    if not name:
        return "no upstream" if branch else ""
    return f"{apart} of {name}" if apart else f"pushed to {name}"
