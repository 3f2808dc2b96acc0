"""Signs checkpoints and checks signatures, through git and with the user's own settings alone.

A repository's configuration can name programs that git would run to sign or to check. So every
setting that matters is read from the user's files and given on the command line, which outranks it.
"""

from __future__ import annotations

import os

from gitguard.errors import GitFailed, Pending
from gitguard.model.commit import Stamp, is_object_id
from gitguard.model.text import one_line
from gitguard.model.value import Value
from gitguard.store.git.objects import ObjectsGone
from gitguard.store.git.signature import (
    KINDS,
    OPENPGP,
    SSH,
    UNKNOWN,
    UNSIGNED,
    SignatureVerdict,
    judge_gpg,
    judge_ssh,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.store.git.plumbing import Plumbing

_DEFAULTS = {
    "gpg.format": OPENPGP,
    "user.signingkey": "",
    "gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.allowedsignersfile": "",
    "gpg.ssh.revocationfile": "",
    "gpg.mintrustlevel": "fully",
    "commit.gpgsign": "",
}
"""What git reads to sign and to check, by the names it prints, with its own defaults; but a key has
to be trusted fully."""
_NO_COMMAND = "gpg.ssh.defaultKeyCommand="
_OLD_NAMES = {"gpg.program": "gpg.openpgp.program"}
_RELEVANT = "^(gpg\\..*|user\\.signingkey|commit\\.gpgsign)$"
_YES = ("true", "yes", "on", "1")
_UNUSABLE = ("r", "e", "i", "d", "n")
"""Validities of a key that was revoked, has expired, or is not to be used, as `gpg` prints them."""
_LAX = ("undefined", "never", "marginal")
_NO_SIGNERS_FILE = (
    "your git configuration has to name a file `gpg.ssh.allowedSignersFile`, by its full path and "
    "outside of the repository"
)
_ENCODING = "i18n.commitEncoding=UTF-8"


class SigningSettings:
    """The user's own settings for signatures."""

    def __init__(self, git: Plumbing) -> None:
        """Read them from the user's files."""
        self._values = dict(_DEFAULTS)
        for name, value in git.user_settings(_RELEVANT):
            current_name = _OLD_NAMES.get(name, name)
            if current_name in self._values:
                self._values[current_name] = value or _DEFAULTS[current_name]
        if self._values["gpg.mintrustlevel"].lower() in _LAX:
            self._values["gpg.mintrustlevel"] = _DEFAULTS["gpg.mintrustlevel"]

    @property
    def kind(self) -> str:
        """Which kind of signature the user makes and takes."""
        return self._values["gpg.format"]

    @property
    def can_sign(self) -> bool:
        """Whether a key is named; no command is run to find one, nor is it guessed."""
        return bool(self._values["user.signingkey"])

    @property
    def signers_file(self) -> str:
        """The file that says whose SSH signatures count."""
        return self._values["gpg.ssh.allowedsignersfile"]

    @property
    def values(self) -> tuple[str, ...]:
        """What the user has set, which git may name in a complaint."""
        return tuple(value for value in self._values.values() if value)

    @property
    def gpg(self) -> str:
        """The program for OpenPGP keys."""
        return self._values["gpg.openpgp.program"]

    @property
    def signs_commits(self) -> bool:
        """Whether the user signs all commits."""
        return self._values["commit.gpgsign"].lower() in _YES

    def for_named_keys(self, signers_file: str) -> tuple[str, ...]:
        """Return the settings to check keys that were named one by one.

        Such a key needs no web of trust, and nobody else's file of signers counts.
        """
        named = {"gpg.ssh.allowedsignersfile": signers_file, "gpg.mintrustlevel": _LAX[0]}
        return self._as_arguments({**self._values, **named})

    def as_arguments(self) -> tuple[str, ...]:
        """Return all of them as settings of a git command."""
        return self._as_arguments(self._values)

    @staticmethod
    def _as_arguments(values: Mapping[str, str]) -> tuple[str, ...]:
        revoked = values["gpg.ssh.revocationfile"] or os.devnull
        values = {**values, "gpg.ssh.revocationfile": revoked}
        del values["commit.gpgsign"]
        return (_ENCODING, _NO_COMMAND, *(f"{name}={value}" for name, value in values.items()))


class Signer:
    """Writes signed commits."""

    def __init__(self, git: Plumbing) -> None:
        """Sign through git."""
        self._git = git

    def commit(self, tree: str, parent: str, message: str, stamp: Stamp) -> str:
        """Write a signed commit, durable; return its id.

        Raises `Pending` where the key cannot be used now.
        """
        parents = ("-p", parent) if parent else ()
        try:
            settings = SigningSettings(self._git)
            if not settings.can_sign:
                raise _unsigned("your git configuration names no key to sign with")
            outcome = self._git.attempt_with_keys(
                *("commit-tree", "-S", *parents, tree),
                settings=settings.as_arguments(),
                environment=stamp.to_environment(),
                stdin=message.encode(),
            )
        except GitFailed as error:
            raise _unsigned(error.message) from error
        if b"is not a valid object" in outcome.stderr:
            raise ObjectsGone(f"somebody removed {tree} while it was signed")
        if outcome.returncode:
            raise _unsigned(
                f"git said: {self._git.complaint(outcome, settings.values) or 'nothing'}"
            )
        return outcome.stdout.decode().strip()


def _unsigned(why: str) -> Pending:
    return Pending(
        f"the checkpoint cannot be signed: {why}",
        "Name a key with `git config --global user.signingkey KEY` that can be used without a "
        "question, unlock it in its agent, or set `sign: false` in your own config.yaml; the next "
        "checkpoint then commits",
    )


class NamedKeyCheck:
    """Says whether one of the keys that the user named signed a commit.

    Which signers git's own settings allow plays no part, nor what else a file of allowed signers
    says, such as that any name counts: the fingerprint decides.
    """

    def __init__(self, git: Plumbing, keys: frozenset[str], signers_file: str) -> None:
        """Check through git; signers_file has the SSH keys among the named ones."""
        self._git = git
        self._keys = keys
        self._signers_file = signers_file
        self._arguments: tuple[str, ...] = ()

    def verdict(self, commit: str, signature: str) -> SignatureVerdict:
        """Check one commit, which was read and hashed before; signature is the kind it carries.

        A verdict that is not good names the key, where a key signed exactly this.
        """
        assert is_object_id(commit)
        kind = KINDS.get(signature, "")
        if not signature:
            return SignatureVerdict(UNSIGNED, reason="it is not signed")
        if kind not in (SSH, OPENPGP):
            return SignatureVerdict(UNKNOWN, reason="its signature is of no kind that counts")
        if not self._arguments:
            settings = SigningSettings(self._git)
            self._arguments = settings.for_named_keys(self._signers_file)
        verdict = ask_git(self._git, commit, kind, self._arguments)
        is_stranger = verdict.is_good or (kind == SSH and verdict.standing == UNKNOWN)
        if is_stranger and verdict.key and verdict.key not in self._keys:
            return verdict.replace(standing=UNKNOWN, reason="you have not named its key")
        return verdict


class HeldKey(Value):
    """An OpenPGP key in the user's keyring that may be used."""

    fingerprint: str
    name: str


class Keyring:
    """The user's OpenPGP keys, through the program that the user's own git settings name."""

    def __init__(self, git: Plumbing) -> None:
        """Describe the keyring; nothing is run yet."""
        self._git = git

    def fingerprints_in(self, data: bytes) -> tuple[str, ...]:
        """Return the fingerprints of the keys in a file of keys, which is imported nowhere."""
        return tuple(key for key, _, _ in self._keys("--show-keys", stdin=data))

    def held(self, fingerprint: str) -> HeldKey | None:
        """Return the key with a fingerprint; None for none, or one that was revoked or expired."""
        for key, validity, name in self._keys("--list-keys", fingerprint):
            if key == fingerprint and validity not in _UNUSABLE:
                return HeldKey(key, name)
        return None

    def _keys(self, *question: str, stdin: bytes = b"") -> list[tuple[str, str, str]]:
        """Return fingerprint, validity and name of each primary key."""
        program = SigningSettings(self._git).gpg
        outcome = self._git.attempt_key_program(
            program, "--batch", "--with-colons", "--fixed-list-mode", *question, stdin=stdin
        )
        keys: list[tuple[str, str, str]] = []
        is_primary = False
        for line in outcome.stdout.decode("utf-8", "replace").splitlines():
            record = [*line.split(":"), *[""] * 10]
            if record[0] in ("pub", "sub"):
                is_primary = record[0] == "pub"
                validity = record[1]
            elif record[0] == "fpr" and is_primary:
                keys.append((record[9], validity, ""))
                is_primary = False
            elif record[0] == "uid" and keys and not keys[-1][2]:
                keys[-1] = (*keys[-1][:2], one_line(record[9]))
        return keys


class SignatureCheck:
    """Says what the signatures of checkpoints are worth."""

    def __init__(self, git: Plumbing, signers: tuple[str, ...] = ()) -> None:
        """Check through git; signers limits who may sign, by name (SSH) or fingerprint."""
        self._git = git
        self._signers = {_plain(signer) for signer in signers}
        self._settings: SigningSettings | None = None

    def verdict(self, commit: str, signature: str) -> SignatureVerdict:
        """Check one commit, which was read and hashed before; signature is the kind it carries."""
        assert is_object_id(commit)
        if not signature:
            return SignatureVerdict(UNSIGNED, reason="it is not signed")
        if self._settings is None:
            self._settings = SigningSettings(self._git)
        # Git would check any kind with the program for it; only the kind the user chose counts.
        kind = KINDS.get(signature, "")
        accepted_kind = self._settings.kind
        if kind != accepted_kind:
            named = f"of the kind `{kind}`" if kind else "of no kind we know"
            return SignatureVerdict(
                UNKNOWN,
                reason=f"its signature is {named}, and your git takes `{accepted_kind}` only",
            )
        if kind == SSH and not self._git.is_users_own(self._settings.signers_file):
            return SignatureVerdict(UNKNOWN, reason=_NO_SIGNERS_FILE)
        return self._allowed(ask_git(self._git, commit, kind, self._settings.as_arguments()), kind)

    def _allowed(self, verdict: SignatureVerdict, kind: str) -> SignatureVerdict:
        # The name in a GPG key is whatever its owner wrote there; an SSH principal is the user's.
        names = {_plain(verdict.key), *([_plain(verdict.signer)] if kind == SSH else [])}
        if not verdict.is_good or not self._signers or names & self._signers:
            return verdict
        why = f"{verdict.signer or verdict.key} signed it, who is not among your `signers`"
        return verdict.replace(standing=UNKNOWN, reason=why)


def ask_git(git: Plumbing, commit: str, kind: str, settings: tuple[str, ...]) -> SignatureVerdict:
    """Return what git says of a commit's signature under settings that name all it may run."""
    try:
        outcome = git.attempt_with_keys(
            *("verify-commit", "--raw", commit), settings=settings, environment={}
        )
    except GitFailed as error:
        return SignatureVerdict(UNKNOWN, reason=error.message)
    output = outcome.stderr.decode("utf-8", "replace")
    judge = judge_ssh if kind == SSH else judge_gpg
    return judge(output, holds=outcome.returncode == 0)


def _plain(name: str) -> str:
    return "".join(name.split())
