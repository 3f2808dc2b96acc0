"""What commits were before they were rewritten, by patches, authors and times alone.

A rebase, an amend of the message and a cherry-pick keep the patch; a squash has the patch of
several commits together; an amend of the content keeps author and time.
"""

from __future__ import annotations

from gitguard.model.text import counted
from gitguard.model.value import Value
from gitguard.store.git.commits import Changes, CodeCommits, HistoryCommit, is_comparable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    ChangesOf = Mapping[str, Changes]
    PatchIds = Mapping[str, str]
    Forms = dict[str, tuple["Form", ...]]

EXACT, PATCH, TRAILER, SQUASHED, LIKELY = CERTAINTIES = (
    "exact",
    "same patch",
    "trailer",
    "squashed",
    "likely",
)
"""How a code commit was tied to checkpoints, the surest way first: a checkpoint names the commit;
it names one with the same patch; the commit's own trailer names the checkpoint; the commit has the
patch of several that checkpoints name; files and times agree."""
_MOST_MERGED = 50
"""Chains with merges in them, for each of which git has to be asked where it began."""


class Form(Value):
    """What a commit was before it was rewritten."""

    chain: tuple[str, ...]
    """The commits that became this one, oldest first; several where they were squashed."""
    parent: str
    """What the first of them was made on."""
    certainty: str
    reason: str

    @property
    def head(self) -> str:
        """The last of the commits that became this one."""
        return self.chain[-1]


def alike(
    commits: Iterable[str], changes: ChangesOf, others: Iterable[str], others_changes: ChangesOf
) -> tuple[list[str], list[str]]:
    """Return the commits and the others that change as many lines of the same files.

    Only these can have the same patch, and computing one takes long.
    """
    shapes = {
        commit: changes[commit]
        for commit in commits
        if commit in changes and is_comparable(changes[commit])
    }
    asked = set(shapes.values())
    same = [other for other in others if others_changes.get(other) in asked]
    shared = {others_changes[other] for other in same}
    return [commit for commit, shape in shapes.items() if shape in shared], same


def rewritten(
    commits: Sequence[HistoryCommit],
    changes: ChangesOf,
    others: Sequence[HistoryCommit],
    others_changes: ChangesOf,
    *,
    patch_ids: PatchIds,
) -> dict[str, tuple[Form, ...]]:
    """Return the older forms of commits among others: of the same patch, else of the same time."""
    by_patch: dict[str, list[HistoryCommit]] = {}
    by_author: dict[tuple[str, int], list[HistoryCommit]] = {}
    for other in others:
        by_author.setdefault((other.author, other.authored_at), []).append(other)
        if other.id in patch_ids:
            by_patch.setdefault(patch_ids[other.id], []).append(other)
    forms = {}
    for commit in commits:
        # A merge makes the same changes as what it took in, and is no older form of it.
        same = [
            other
            for other in by_patch.get(patch_ids.get(commit.id, ""), [])
            if len(other.parents) == len(commit.parents)
        ]
        # The same lines may be changed twice, as by a revert of a revert; then the time decides.
        same = [other for other in same if other.authored_at == commit.authored_at] or same
        older = [_form(other, PATCH, "which makes the same changes") for other in same]
        if not older and commit.authored_at:
            paths = _paths(changes, commit.id)
            again = by_author.get((commit.author, commit.authored_at), [])
            # A script commits several times a second; then the subject tells them apart.
            again = [other for other in again if other.subject == commit.subject] or again
            reason = "which has the same author and time, and changes one of the same files"
            older = [
                _form(other, LIKELY, reason)
                for other in again
                if not paths.isdisjoint(_paths(others_changes, other.id))
            ]
        if older:
            forms[commit.id] = tuple(older)
    return forms


def _form(other: HistoryCommit, certainty: str, reason: str) -> Form:
    return Form((other.id,), other.parent, certainty, reason)


def _paths(changes: ChangesOf, commit: str) -> frozenset[str]:
    return frozenset(change.path for change in changes.get(commit, ()))


class CommitSeries(Value):
    """Commits in a row, oldest first, and what the first of them was made on."""

    commits: tuple[str, ...]
    base: str
    has_merge: bool = False
    """Whether another history was merged into it, so that its base is a newer commit."""

    @property
    def head(self) -> str:
        """The last of the commits."""
        return self.commits[-1]


def chains(heads: Iterable[str], others: Sequence[HistoryCommit]) -> list[CommitSeries]:
    """Return for each head the commits that lead to it, as far as they are among the others."""
    by_id = {other.id: other for other in others}
    rows = []
    for head in heads:
        row, commit, has_merge = [], head, False
        while commit in by_id:
            row.append(commit)
            has_merge = has_merge or len(by_id[commit].parents) > 1
            commit = by_id[commit].parent
        if len(row) > 1 and commit:
            rows.append(CommitSeries(tuple(reversed(row)), commit, has_merge))
    return rows


def parts(
    rows: Sequence[CommitSeries], commits: Iterable[HistoryCommit], forms: Forms
) -> list[CommitSeries]:
    """Return the parts of chains that begin after an older form of a commit's parent.

    Those were squashed within a branch, on top of a commit that was rewritten as well.
    """
    begun_at = {form.head for commit in commits for form in forms.get(commit.parent, ())}
    shorter = []
    for row in rows:
        for place, commit in enumerate(row.commits[:-2]):
            if commit in begun_at:
                shorter.append(row.replace(commits=row.commits[place + 1 :], base=commit))
    return shorter


def squashed(
    commits: Iterable[HistoryCommit],
    rows: Iterable[CommitSeries],
    patch_ids: PatchIds,
    whole: PatchIds,
) -> dict[str, tuple[Form, ...]]:
    """Return which commits have the patch of a whole chain; whole has it by the chain's head."""
    by_patch: dict[str, list[Form]] = {}
    for row in rows:
        if row.head in whole:
            together = f"the last of {counted(len(row.commits), 'commit')} that change the same"
            form = Form(row.commits, row.base, SQUASHED, f"{together} together")
            by_patch.setdefault(whole[row.head], []).append(form)
    return {
        commit.id: tuple(by_patch[patch_ids[commit.id]])
        for commit in commits
        if patch_ids.get(commit.id) in by_patch
    }


def older_forms(
    code: CodeCommits,
    commits: Sequence[HistoryCommit],
    changes: ChangesOf,
    others: Sequence[HistoryCommit],
    *,
    heads: Collection[str],
    head: str,
) -> Forms:
    """Return the older forms of commits among others, which lead to heads.

    heads are the commits that checkpoints name; head is the end of the range.
    """
    others_changes = code.changes([(c.id, c.parent) for c in others if not c.is_cut])
    ids = [commit.id for commit in commits]
    parents = {commit.id: commit.parent for commit in (*commits, *others)}
    mine, theirs = alike(ids, changes, others_changes, others_changes)
    patch_ids = code.patch_ids([(commit, parents[commit]) for commit in (*mine, *theirs)])
    forms: Forms = rewritten(commits, changes, others, others_changes, patch_ids=patch_ids)
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


def _bounded(rows: Sequence[CommitSeries]) -> list[CommitSeries]:
    with_merges = [row for row in rows if row.has_merge][:_MOST_MERGED]
    return [row for row in rows if not row.has_merge] + with_merges


def _on_its_base(code: CodeCommits, row: CommitSeries, head: str) -> CommitSeries:
    base = code.merge_base(row.head, head) if row.has_merge else ""
    return row.replace(base=base) if base else row
