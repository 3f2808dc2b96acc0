"""What serves a reviewer: code commits, and what the agent knew when it made them."""

from __future__ import annotations

import os

from gitguard.errors import NotWritable
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.review.knowledge import Knowledge, Row
    from gitguard.review.piece import CodeChange, Piece
    from gitguard.review.publishing import Publication
    from gitguard.review.search import Results
    from gitguard.review.timeline import HistoryChoice
    from gitguard.review.why import Why
    from gitguard.sessions.workspace_sessions import WorkspaceSessions


MARKDOWN, HTML, JSON = REPORT_FORMATS = ("markdown", "html", "json")
CI_FILES = {
    "gitguard-report.yml": "ci/github/gitguard-report.yml",
    "gitguard-comment.yml": "ci/github/gitguard-comment.yml",
    "post_comment.py": "ci/post_comment.py",
    "report.sh": "ci/report.sh",
}
"""What a job needs to report on pull requests, and where it is among the templates."""


class AtCommit(Value):
    """A code commit, and what each session knew when it was made, the surest link first."""

    commit: CodeChange
    knowledge: tuple[Knowledge, ...]
    notes: tuple[str, ...] = ()


class ReviewCourse(Value):
    """The commits of a range, oldest first, and what became known while each was made."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def _choice(session: str, writer: str) -> HistoryChoice:
    from gitguard.review.timeline import HistoryChoice

    return HistoryChoice(session, writer)


class Reviews:
    """`Guard.review`: the links between code commits and checkpoints, and what is read there."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        """Look at all sessions of a repository."""
        self._sessions = sessions

    def piece(self, range_text: str = "", *, session: str = "", writer: str = "") -> Piece:
        """Return the commits of a range and the checkpoints of all sessions that led to each.

        A range is `BASE..HEAD`, or `A...B` from where both parted, or a base alone; by default what
        HEAD has and its upstream or the default branch has not. Links to histories that this
        machine did not write are marked. session is the key or name of the only session to look at,
        and writer the beginning of the id of the only writer whose lanes are. Raises `InvalidInput`
        for a range that names nothing, and for an unknown session or writer.
        """
        from gitguard.review.piece import piece_of

        return piece_of(self._sessions, range_text, _choice(session, writer))

    def at(self, commit: str, *, session: str = "", writer: str = "") -> AtCommit:
        """Return what every session knew when a commit was made, and what it learned in it.

        session and writer are as in `piece`. Raises `InvalidInput` for a revision of no commit.
        """
        from gitguard.review.knowledge import knowledge_of
        from gitguard.review.piece import piece_at

        piece = piece_at(self._sessions, commit, _choice(session, writer))
        return AtCommit(piece.commits[0], knowledge_of(self._sessions, piece), piece.notes)

    def course(
        self, range_text: str = "", *, session: str = "", writer: str = "", untrusted: bool = False
    ) -> ReviewCourse:
        """Return a row for each commit of a range; untrusted histories count if asked for.

        The others are as in `piece`.
        """
        from gitguard.review.knowledge import rows_of

        piece = self.piece(range_text, session=session, writer=writer)
        rows = rows_of(self._sessions, piece, untrusted=untrusted)
        return ReviewCourse(tuple(rows), piece.notes)

    def search(
        self,
        words: tuple[str, ...],
        *,
        fields: tuple[str, ...] = (),
        since: str = "",
        session: str = "",
        writer: str = "",
        most: int = 20,
        untrusted: bool = False,
        tell: Callable[[int, int], None] | None = None,
    ) -> Results:
        """Search all sessions and archives for words, or the one with a key or name.

        since is a date, a time in UTC or an age such as `3d`. untrusted is whether sessions that
        this machine did not write are searched as well. tell is called with how many checkpoints
        were read that no search read before, of how many. Raises `InvalidInput` for what cannot
        be asked.
        """
        from gitguard.review.histories import histories
        from gitguard.review.search import question, search

        query = question(
            words=words, fields=fields, since=since, most=most, now=self._sessions.clock()
        )
        choice = _choice(session, writer)
        searchable = histories(self._sessions, choice=choice, untrusted=untrusted, tell=tell)
        return search(searchable, query, self._sessions.workspace.redactor.text)

    def why(
        self,
        target: str,
        *,
        session: str = "",
        writer: str = "",
        untrusted: bool = False,
        tell: Callable[[int, int], None] | None = None,
    ) -> Why:
        """Return the decisions and failures that stand behind `FILE` or `FILE:LINE`.

        The options are those of `search`. Raises `InvalidInput` for what has no committed lines.
        """
        from gitguard.review.histories import histories
        from gitguard.review.piece import piece_of_commits
        from gitguard.review.why import blamed, read_target, shallow_notes, why

        repository = self._sessions.repository()
        code = read_target(target, repository.place.worktree)
        commits = blamed(repository, code)
        choice = _choice(session, writer)
        searchable = histories(self._sessions, choice=choice, untrusted=untrusted, tell=tell)
        redact = self._sessions.workspace.redactor.text
        answer = why(
            code,
            commits,
            searchable,
            piece_of_commits(self._sessions, [commit.id for commit in commits], choice).links,
            redact=redact,
        )
        shallow = shallow_notes(commits, repository.disguises().cut)
        return answer.replace(notes=(*answer.notes, *shallow))

    # The report

    def report(
        self, range_text: str = "", form: str = MARKDOWN, *, session: str = "", writer: str = ""
    ) -> str:
        """Return one page on a piece of work, as `markdown`, `html` or `json`.

        range_text, session and writer are as in `piece`. Templates of the user's own take the place
        of ours. Raises `InvalidInput` for a range that names nothing, `InvalidConfig` for a
        template that fails.
        """
        from gitguard.review.gathering import gather

        gathered = gather(self._sessions, self.piece(range_text, session=session, writer=writer))
        if form == JSON:
            from gitguard.model.codec import dump_json
            from gitguard.model.text import spelled_out
            from gitguard.review.report import document_of

            return spelled_out(dump_json(document_of(gathered.report)).decode())
        folder = os.path.join(self._sessions.workspace.places.config_home, "templates")
        if form == HTML:
            from gitguard.review.page import page

            return page(gathered.report, gathered.web, templates=folder)
        from gitguard.review.markdown import markdown

        return markdown(gathered.report, gathered.web, templates=folder)

    def ci_file(self, name: str) -> str:
        """Return one of `CI_FILES`, to be put into a repository as it is."""
        from gitguard.rendering import template_source

        return template_source(CI_FILES[name])

    @staticmethod
    def put(path: str, text: str) -> int:
        """Write a page to the one file that is named; return its size in bytes.

        The file is replaced as a whole, so that a full disk leaves what was there. Raises
        `NotWritable`, also for what is not a file.
        """
        from gitguard.store.disk import files

        data = text.encode("utf-8", "replace")
        if os.path.exists(path) and not os.path.isfile(path):
            raise NotWritable(f"`{path}` is not a file", "Leave out -o and redirect the output")
        try:
            files.write_bytes(os.path.abspath(path), data, mode=0o666)
        except NotWritable as error:
            cause = error.__cause__
            reason = cause.strerror if isinstance(cause, OSError) else error.message
            hint = "Name a file in a folder that exists and that you may write"
            raise NotWritable(f"`{path}` cannot be written: {reason}", hint) from error
        return len(data)

    # Publishing

    def publication(
        self,
        range_text: str = "",
        remote: str = "origin",
        *,
        session: str = "",
        with_words: bool = False,
        replace: bool = False,
    ) -> Publication:
        """Return what `publish` pushes of a piece of work; its objects are written here.

        range_text and session are as in `piece`. Prompts, answers and summaries are left out unless
        with_words is set. replace is whether refs may be replaced that this machine did not
        publish. Raises `NothingFound` for a range without checkpoints, `Untrusted` or `Tampered`
        for a history that is not ours or does not verify, `SecretsFound`, and `InvalidInput` for an
        unknown range or remote.
        """
        from gitguard.review.publishing import publication_of

        piece = self.piece(range_text, session=session)
        return publication_of(self._sessions, piece, remote, with_words=with_words, replace=replace)

    def publish(self, publication: Publication) -> None:
        """Push what is new of a publication that a person has seen.

        Raises `RefMoved` if a ref of the remote has changed since, and `GitFailed` with the
        remote's words if it does not take the push.
        """
        from gitguard.review.publishing import publish

        publish(self._sessions, publication)
