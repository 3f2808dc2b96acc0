"""What is done with conversations' transcripts, in a repository or outside of one."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.store.session.current import current_session
from gitguard.store.session.host_session import HostSession, read_record
from gitguard.transcripts import find_format
from gitguard.transcripts.formats.recognition import require_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from gitguard.compaction.budget import BudgetUse
    from gitguard.compaction.compacting import Compacted
    from gitguard.compaction.pruning import Pruned
    from gitguard.compaction.with_session import Surroundings
    from gitguard.model.config.config import Config
    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.events import Transcript
    from gitguard.pressure.usage import Usage
    from gitguard.store.session.workspace import Workspace
    from gitguard.transcripts.exporting import Selection
    from gitguard.transcripts.rewriting.repair import RepairReport

    Tell = Callable[[int, int], object]

JSON_LINES, MARKDOWN, HOST = "jsonl", "markdown", "host"
"""How a conversation is exported: in words of no host, as a page, or as its host's own lines."""


class Transcripts:
    """The use cases of transcripts; each raises `InvalidDocument` for one that cannot be read."""

    def __init__(
        self, config: Config, clock: Callable[[], float], workspace: Workspace | None = None
    ) -> None:
        """Judge by a configuration; a workspace's session knows more of its own conversations.

        clock returns Unix seconds.
        """
        self._config = config
        self._clock = clock
        self._workspace = workspace

    @staticmethod
    def find(path: str, format_name: str = "", conversation: str = "") -> Transcript:
        """Return the transcript at a path, recognised by what is in it.

        Of many in one place it is the named one, else the newest; see `find_conversation`.
        """
        from gitguard.pressure.usage import find_conversation

        return find_conversation(path, format_name, conversation)

    def newest(self) -> Transcript:
        """Return the session's conversation that was used last; raise `InvalidInput` if none."""
        from gitguard.pressure.usage import newest_conversation

        return newest_conversation(self._conversations())

    def _conversations(self) -> Mapping[str, HostSession]:
        if self._workspace is None:
            return {}
        return read_record(self._workspace, current_session(self._workspace)).host_sessions

    def host_session(self, transcript: Transcript) -> HostSession:
        """Return what the session knows of a conversation, which need not be its own."""
        from gitguard.pressure.usage import UNKNOWN, known_conversation

        try:
            return known_conversation(self._conversations(), transcript)
        except GitguardError:
            return UNKNOWN

    # Reading

    def usage(self, transcript: Transcript, *, model: str = "") -> Usage:
        """Tell how full a conversation's context is; model stands in where it names none."""
        from gitguard.pressure.usage import usage_of

        require_messages(transcript)
        return usage_of(
            transcript, self._config, host_session=self.host_session(transcript), model=model
        )

    def budget(self, transcript: Transcript, **options: Any) -> BudgetUse:
        """Hold a conversation against its budget; options are those of `budget_of`."""
        from gitguard.compaction.budget import budget_of

        require_messages(transcript)
        return budget_of(
            transcript, self._config, host_session=self.host_session(transcript), **options
        )

    @staticmethod
    def entries(transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
        """Yield the entries behind a position."""
        return find_format(transcript.format).entries(transcript, since)

    @staticmethod
    def document(transcript: Transcript, selection: Selection) -> dict[str, Any]:
        """Return a conversation as programs read it: what it is, and its entries."""
        from gitguard.transcripts.exporting import document_of, heading, selected_entries

        require_messages(transcript)
        entries = [
            document_of(entry, selection) for entry in selected_entries(transcript, selection)
        ]
        return {**heading(transcript), "entries": entries}

    @staticmethod
    def paragraphs(
        transcript: Transcript, selection: Selection, *, whole: bool = False
    ) -> Iterator[str]:
        """Yield a conversation as people read it, a paragraph for each entry.

        Long calls and results are cut in the middle unless they are wanted whole.
        """
        from gitguard.transcripts.readable import LONGEST, terminal_paragraphs

        require_messages(transcript)
        return terminal_paragraphs(transcript, selection, 0 if whole else LONGEST)

    def export(
        self,
        transcript: Transcript,
        selection: Selection,
        kind: str = JSON_LINES,
        *,
        redact: bool = False,
        tell: Tell = max,
    ) -> Iterable[bytes]:
        """Return a conversation in pieces to write; redact takes out what looks like a secret."""
        from gitguard.transcripts.exporting import json_lines
        from gitguard.transcripts.readable import markdown

        require_messages(transcript)
        redactor = None
        if redact:
            from gitguard.model.config.redaction import redactor_of

            redactor = redactor_of(self._config.redaction)
        if kind == HOST:
            from gitguard.transcripts.rewriting.details import host_lines

            return host_lines(transcript, redactor)
        if kind == JSON_LINES:
            return json_lines(transcript, selection, redactor, tell)
        pages = markdown(transcript, selection, tell)
        texts = (redactor.text(page) for page in pages) if redactor else pages
        return (f"{text}\n".encode(errors="backslashreplace") for text in texts)

    # Rewriting

    def repair(
        self,
        transcript: Transcript,
        *,
        dry_run: bool = False,
        reset: bool = False,
        everything: bool = False,
        replace_images: bool = False,
        tell: Tell = max,
    ) -> RepairReport:
        """Repair a transcript's file, or tell what would be done; see `rewriting.repair`."""
        from gitguard.transcripts.rewriting.repair import repair

        return repair(
            transcript,
            self._clock,
            reset=reset,
            everything=everything,
            replace_images=replace_images,
            rehearse=dry_run,
            tell=tell,
        )

    def prune(
        self,
        transcript: Transcript,
        *,
        model: str = "",
        dry_run: bool = False,
        replace_images: bool = False,
        seen: Callable[[TranscriptEntry], object] = bool,
    ) -> Pruned:
        """Take old, oversized results out of a transcript's file, or tell which would be."""
        from gitguard.compaction import pruning
        from gitguard.model.config.redaction import redactor_of

        config, now = self._config, self._clock
        options: dict[str, Any] = {
            "host_session": self.host_session(transcript),
            "model": model,
            "seen": seen,
        }
        require_messages(transcript)
        if dry_run:
            planned = pruning.plan(transcript, config, now(), **options)
            return planned.replace(are_images_replaced=replace_images and bool(planned.images))
        clean = redactor_of(config.redaction).text
        return pruning.prune(
            transcript, config, now, clean, replace_images=replace_images, **options
        )

    def compact(
        self,
        transcript: Transcript,
        surroundings: Surroundings,
        *,
        keep_turns: int = 0,
        window: int = 0,
        dry_run: bool = False,
    ) -> Compacted:
        """Put a summary in the place of a conversation's older turns, or tell what would be.

        Its session is checkpointed before and after, and the user's summarizer asked.
        """
        from gitguard.compaction.with_session import compact

        return compact(
            transcript,
            self._config,
            self._clock,
            surroundings=surroundings,
            workspace=self._workspace,
            host_session=self.host_session(transcript),
            keep_turns=keep_turns,
            window=window,
            dry_run=dry_run,
        )
