"""Every error gitguard raises on purpose, with the exit code the command line gives it.

    GitguardError                 1
    ├── StatusSignal              the contract's signals: the agent has to stop
    │   ├── MissingState         10
    │   ├── HaltContextLimit     11
    │   └── Complete             12
    ├── Pending                  13   saved in the working files, not committed yet
    ├── NotARepository           20
    ├── NotInitialised           21
    ├── InvalidConfig            22
    ├── InvalidInput             23   a value, field or name that was given
    ├── InvalidDocument          24   a file or object that cannot be read
    │   └── NewerFormat          25
    ├── OtherToolState           45
    ├── Locked                   30
    ├── Busy                     30   somebody is at work with the files to restore
    ├── GitFailed                 1
    │   ├── ForeignRepository     1   it belongs to another user
    │   └── RefMoved             30
    ├── HeadAdvanced             45   somebody committed on top of our head
    ├── Untrusted                45   data this machine did not write
    ├── Tampered                 45   the history is not the anchored one
    ├── EditedState              45
    ├── OwnerOnly                37
    ├── NotWritable              38
    ├── NotConfirmed             39
    ├── SecretsFound             40
    ├── NotReadable              41
    │   └── NotPermitted         41   also an InvalidDocument
    ├── NothingFound              1   as grep ends
    ├── HostFailed                1
    ├── SettingsMoved            43
    └── OtherUser                41   also a NotPermitted and a NotWritable

Errors after which a program does the same have the same code; `kind` tells them apart.

A message says what failed and names the value in backticks; `hint` says what to do.
"""

from __future__ import annotations

REPAIR = 45
"""Exit code of what a person decides with `gitguard repair`."""


class GitguardError(Exception):
    """Base of all errors that are shown to people as one sentence, never as a traceback."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def kind(self) -> str:
        """The name that stands in documents beside the exit code: of the class that has it."""
        return next(c.__name__ for c in type(self).__mro__ if "exit_code" in vars(c))


class StatusSignal(GitguardError):
    """A signal of the runtime contract; `status` is printed on a line of its own."""

    status = ""


class MissingState(StatusSignal):
    """The durable state or its summary is missing, unreadable or incomplete."""

    exit_code = 10
    status = "STATUS:MISSING_STATE"


class HaltContextLimit(StatusSignal):
    """Pressure is critical, or required and missing after the first turn."""

    exit_code = 11
    status = "STATUS:HALT_CONTEXT_LIMIT"


class Complete(StatusSignal):
    """The task's next action says that it is done."""

    exit_code = 12
    status = "STATUS:COMPLETE"


class Pending(GitguardError):
    """The working files hold the state, the commit waits for a run that can write."""

    exit_code = 13


class NotARepository(GitguardError):
    """There is no git worktree at the root that was named or found."""

    exit_code = 20


class NotInitialised(GitguardError):
    """The repository has no gitguard session yet."""

    exit_code = 21


class InvalidConfig(GitguardError):
    """A configuration value is unknown, of the wrong type or out of range."""

    exit_code = 22


class InvalidInput(GitguardError):
    """A value handed to a command is refused; nothing was changed."""

    exit_code = 23


class InvalidDocument(GitguardError):
    """A file or object cannot be read as what it should be."""

    exit_code = 24


class NewerFormat(InvalidDocument):
    """The document was written by a newer gitguard."""

    exit_code = 25


class OtherToolState(GitguardError):
    """State of another tool lies where ours belongs."""

    exit_code = REPAIR


class Locked(GitguardError):
    """Another process holds the lock."""

    exit_code = 30


class Busy(GitguardError):
    """Somebody is at work with the files that were to be put back; nothing was changed."""

    exit_code = 30


class GitFailed(GitguardError):
    """A git command failed; it never means that a ref is missing."""

    exit_code = 1


class ForeignRepository(GitFailed):
    """The repository belongs to another user, so git and gitguard do not use it."""


class RefMoved(GitFailed):
    """A ref no longer points where we read it."""

    exit_code = 30


class HeadAdvanced(GitguardError):
    """The session branch has commits on top of the one our state was based on."""

    exit_code = REPAIR


class Untrusted(GitguardError):
    """The branch holds data that this machine did not write."""

    exit_code = REPAIR


class Tampered(GitguardError):
    """The history is not the one this machine wrote."""

    exit_code = REPAIR


NOT_OURS = (HeadAdvanced, Untrusted, Tampered)
"""Why a branch is not built on: a person decides what becomes of it."""


class EditedState(GitguardError):
    """`state.json` is not the one gitguard wrote."""

    exit_code = REPAIR


class OwnerOnly(GitguardError):
    """Only a human may run this command."""

    exit_code = 37


class NotWritable(GitguardError):
    """A place we have to write to refuses."""

    exit_code = 38


class NotConfirmed(GitguardError):
    """Nobody said yes to a change that asks first; nothing was changed."""

    exit_code = 39


class SecretsFound(GitguardError):
    """A history or working file holds what looks like a secret."""

    exit_code = 40


class NothingFound(GitguardError):
    """A search found nothing."""

    exit_code = 1


class NotReadable(GitguardError):
    """The system fails or refuses to read a file; it never means that it is missing or damaged."""

    exit_code = 41


class NotPermitted(NotReadable, InvalidDocument):
    """We may not read a file; who goes on without one that cannot be read goes on without this."""

    def __init__(
        self,
        message: str,
        hint: str = "Run the command as its owner, or permit the file and its folders to be read",
    ) -> None:
        super().__init__(message, hint)


class HostFailed(GitguardError):
    """A host's program failed, or refused a change of its settings; they are as before."""

    exit_code = 1


class SettingsMoved(GitguardError):
    """A host's settings are not as they were looked at, or a change of them was cut off."""

    exit_code = 43

    def __init__(self, message: str, hint: str = "", difference: str = "") -> None:
        super().__init__(message, hint)
        self.difference = difference
        """What is different, as a unified diff; it may hold secrets."""


class OtherUser(NotPermitted, NotWritable):
    """The worktree's working files belong to another user of a shared repository."""

    exit_code = 41
