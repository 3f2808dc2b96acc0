"""Looks for what commits were before they were rewritten, with as few patches as will do."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.review.forms import alike, chains, parts, rewritten, squashed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from gitguard.review.forms import Chain, Form
    from gitguard.store.git.commits import Changes, CodeCommits, HistoryCommit

    Forms = dict[str, tuple[Form, ...]]

_MOST_OTHERS = 2_000
"""Commits outside of the range that are compared with those in it."""
_MOST_MERGED = 50
"""Chains with merges in them, for each of which git has to be asked where it began."""


def older_forms(
    code: CodeCommits,
    commits: Sequence[HistoryCommit],
    changes: Mapping[str, Changes],
    heads: Collection[str],
    head: str,
) -> tuple[Forms, str]:
    """Return the older forms of commits among what leads to heads, and why some may be missing.

    heads are the commits that checkpoints name; head is the end of the range.
    """
    if not commits:
        return {}, ""
    try:
        others = code.elsewhere(heads, head, most=_MOST_OTHERS + 1)
        forms = _forms(code, commits, changes, others[:_MOST_OTHERS], heads, head)
    except GitguardError as error:
        return {}, f"Earlier forms of rewritten commits were not found: {error.message}"
    problem = ""
    if len(others) > _MOST_OTHERS:
        problem = (
            f"More than {_MOST_OTHERS:,} commits outside of the range led to checkpoints; only the "
            "newest were compared with those in it."
        )
    return forms, problem


def _forms(
    code: CodeCommits,
    commits: Sequence[HistoryCommit],
    changes: Mapping[str, Changes],
    others: Sequence[HistoryCommit],
    heads: Collection[str],
    head: str,
) -> Forms:
    others_changes = code.changes([(c.id, c.parent) for c in others if not c.is_cut])
    ids = [commit.id for commit in commits]
    parents = {commit.id: commit.parent for commit in (*commits, *others)}
    mine, theirs = alike(ids, changes, others_changes, others_changes)
    patch_ids = code.patch_ids([(commit, parents[commit]) for commit in (*mine, *theirs)])
    forms: Forms = rewritten(commits, changes, others, others_changes, patch_ids)
    rows = [_on_its_base(code, row, head) for row in _bounded(chains(heads, others))]
    shorter = {row.head: row for row in parts(rows, commits, forms)}
    for group in (rows, [*shorter.values()]):
        whole_changes = code.changes([(row.head, row.base) for row in group])
        mine, whole = alike(ids, changes, [row.head for row in group], whole_changes)
        bases = {row.head: row.base for row in group}
        single = code.patch_ids([(commit, parents[commit]) for commit in mine])
        together = code.patch_ids([(commit, bases[commit]) for commit in whole])
        for commit, older in squashed(commits, group, single, together).items():
            forms[commit] = (*forms.get(commit, ()), *older)
    return forms


def _bounded(rows: Sequence[Chain]) -> list[Chain]:
    with_merges = [row for row in rows if row.has_merge][:_MOST_MERGED]
    return [row for row in rows if not row.has_merge] + with_merges


def _on_its_base(code: CodeCommits, row: Chain, head: str) -> Chain:
    base = code.merge_base(row.head, head) if row.has_merge else ""
    return row.replace(base=base) if base else row
