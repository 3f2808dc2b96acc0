"""The keys whose signatures the user believes, and how a key is named.

They are kept in the user's configuration folder, and nowhere else is looked for one: no repository
and no setting of git's says whose words count. Beside them lies the file of allowed signers that
`ssh-keygen` reads. The record decides; a name that stands in that file alone counts for nothing.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidConfig, InvalidDocument, InvalidInput
from gitguard.model import fields
from gitguard.model.codec import dump_json
from gitguard.model.commit import header_of
from gitguard.model.record import Record
from gitguard.model.ssh_key import FINGERPRINT, KINDS, SshKey, key_in_signature, read_public_key
from gitguard.model.text import counted, timestamp
from gitguard.store.disk import files
from gitguard.store.git.signature import OPENPGP, SSH
from gitguard.store.git.signing import Keyring
from gitguard.store.session.anchor import FORMAT, load_record
from gitguard.store.session.lanes import kept_lanes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.store.git.plumbing import Plumbing
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.workspace import Workspace

_NAME, _SIGNERS = "trusted_keys.json", "allowed_signers"
_LIMIT = 64 * 1024
_MOST_KEYS = 200
"""Files of public keys that are looked at for a fingerprint."""
_SHORTEST = 8
"""Characters of a fingerprint by which a key that is trusted is named."""
_PGP = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
_PRIVATE = "PRIVATE KEY"
_FORMS = "Give the file of a public key, its text, or a fingerprint such as SHA256:…"
_FINGERPRINTS = (40, 64)
"""Digits of an OpenPGP fingerprint."""


class TrustedKey(Record):
    """A key whose signatures the user believes."""

    fingerprint: str = fields.text("The fingerprint, as `ssh-keygen -l` or `gpg -k` shows it.")
    kind: str = fields.text("Of which kind it is.", choices=(SSH, OPENPGP))
    public: str = fields.text(
        "The public key, of an SSH key; an OpenPGP key is in the user's keyring.", default=""
    )
    comment: str = fields.text("What its owner calls it.", default="")
    added_at: str = fields.time("When the user named it.", default="")


class TrustedKeys(Record):
    """The keys whose signatures the user believes."""

    keys: tuple[TrustedKey, ...] = fields.records("In this order.", of=TrustedKey, default=())

    @property
    def fingerprints(self) -> frozenset[str]:
        """Their fingerprints."""
        return frozenset(key.fingerprint for key in self.keys)


class KeyFile:
    """The record of trusted keys in the user's configuration folder."""

    def __init__(self, config_home: str) -> None:
        """Describe the record; nothing is read yet."""
        self._folder = config_home
        self._path = os.path.join(config_home, _NAME)
        self.signers_path = os.path.join(config_home, _SIGNERS)

    def read(self) -> TrustedKeys:
        """Return the record; raises `InvalidDocument` for one that is damaged."""
        return load_record(self._path, "the trusted keys", TrustedKeys) or TrustedKeys()

    def write(self, record: TrustedKeys, git: Plumbing) -> None:
        """Replace the record and the file of allowed signers, durable.

        Raises `InvalidConfig` where the configuration folder lies in the repository.
        """
        if not git.is_users_own(os.path.realpath(self._folder)):
            raise InvalidConfig(
                f"your configuration folder `{self._folder}` lies in the repository",
                "Set XDG_CONFIG_HOME to a folder outside of it",
            )
        if not os.path.isdir(self._folder):  # people may link to the folder
            files.make_folder(self._folder)
        folder = os.path.realpath(self._folder)
        lines = (f'{k.fingerprint} namespaces="git" {k.public}\n' for k in record.keys if k.public)
        files.write_bytes(os.path.join(folder, _SIGNERS), "".join(lines).encode())
        data = dump_json({"format": FORMAT, **record.to_document()})
        files.write_bytes(os.path.join(folder, _NAME), data)


def trust_key(workspace: Workspace, repository: Repository, name: str) -> TrustedKey:
    """Believe what a key signs from now on; return it.

    name is the text of a public key, the path of its file, or a fingerprint of a key at hand.
    Raises `InvalidInput` for what names no key, or not one alone.
    """
    file = KeyFile(workspace.places.config_home)
    key = _key_named(name, repository, workspace.places.home)
    key = key.replace(added_at=timestamp(workspace.clock()))
    record = file.read()
    others = tuple(other for other in record.keys if other.fingerprint != key.fingerprint)
    file.write(record.replace(keys=(*others, key)), repository.git)
    return key


def distrust_key(workspace: Workspace, repository: Repository, name: str) -> TrustedKey:
    """Believe nothing more that a key signs; return it. What was joined stays.

    name is the beginning of a fingerprint, the key itself or its file. Raises `InvalidInput` for
    what names none of the trusted keys, or several.
    """
    file = KeyFile(workspace.places.config_home)
    record = file.read()
    words, home = _without_blanks(name), workspace.places.home
    if os.path.isfile(_path_of(name, home)):
        words = _of_file(name, repository, home).fingerprint
    elif words.partition("-")[0] in ("ssh", "sk", "ecdsa"):
        words = read_public_key(name).fingerprint
    if len(words.removeprefix(FINGERPRINT)) < _SHORTEST:
        words = ""
    named = [k for k in record.keys if words and k.fingerprint.startswith((words, words.upper()))]
    if len(named) != 1:
        raise InvalidInput(
            f"`{name:.80}` names {counted(len(named), 'trusted key')} of {len(record.keys)}",
            "`gitguard trust list` shows them",
        )
    left = tuple(key for key in record.keys if key is not named[0])
    file.write(record.replace(keys=left), repository.git)
    return named[0]


# What a key is named by


def _key_named(name: str, repository: Repository, home: str) -> TrustedKey:
    words, git = name.strip(), repository.git
    digits = _without_blanks(words).removeprefix("0x").upper()
    if not words:
        raise InvalidInput("this names no key", _FORMS)
    if _PRIVATE in words:
        raise _refuse_private()
    if words.startswith(FINGERPRINT):
        return _at_hand(words, (*_users_keys(home), *_keys_of_lanes(repository)))
    if words.partition(" ")[0] in KINDS:
        return _of_ssh(read_public_key(words))
    if words.startswith(_PGP):
        return _of_block(words.encode(), Keyring(git))
    if digits and not digits.strip("0123456789ABCDEF") and not os.path.lexists(name):
        return _of_keyring(digits, Keyring(git))
    return _of_file(name, repository, home)


def _path_of(name: str, home: str) -> str:
    return home + name[1:] if name.startswith("~/") and home else name


def _of_file(name: str, repository: Repository, home: str) -> TrustedKey:
    path = os.path.realpath(_path_of(name, home))
    if not repository.git.is_users_own(path):
        raise InvalidInput(
            f"`{name:.200}` lies in the repository, where whoever can push may change it",
            "Copy it out, compare its fingerprint with its owner's, and name the copy",
        )
    data = files.read_bytes(path, limit=_LIMIT)
    if data is None:
        raise InvalidInput(
            f"`{name:.200}` is neither a file nor a public key nor a fingerprint",
            _FORMS,
        )
    text = data.decode("utf-8", "replace")
    if _PRIVATE in text:
        raise _refuse_private()
    if text.lstrip().startswith(_PGP) or data[:1] in (b"\x98", b"\x99", b"\xc6"):
        return _of_block(data, Keyring(repository.git))
    return _of_ssh(read_public_key(text))


def _refuse_private() -> InvalidInput:
    return InvalidInput("this is a private key", "Give the public one, which ends with `.pub`")


def _of_ssh(key: SshKey) -> TrustedKey:
    return TrustedKey(key.fingerprint, SSH, key.line, key.comment[:200])


def _at_hand(fingerprint: str, keys: Iterable[SshKey]) -> TrustedKey:
    for key in keys:
        if key.fingerprint == fingerprint:
            return _of_ssh(key)
    raise InvalidInput(
        f"no key at hand has the fingerprint `{fingerprint:.80}`",
        "`gitguard sync` brings the lanes that it signed; or give its public key",
    )


def _users_keys(home: str) -> Iterator[SshKey]:
    """Yield the public keys in the user's own folder of keys."""
    folder = os.path.join(home, ".ssh")
    names = files.names_in(folder) if home else []
    for name in sorted(name for name in names if name.endswith(".pub"))[:_MOST_KEYS]:
        try:
            data = files.read_bytes(os.path.join(folder, name), limit=_LIMIT)
            yield read_public_key((data or b"").decode("utf-8", "replace"))
        except (InvalidInput, InvalidDocument):
            continue


def _keys_of_lanes(repository: Repository) -> Iterator[SshKey]:
    """Yield the keys that the lanes kept here say they are signed with."""
    with repository.reader() as reader:
        commits = [lane.commit for lane in kept_lanes(repository)]
        bodies = reader.read_all(commits, "commit", limit=_LIMIT)
    for body in bodies.values():
        if isinstance(body, bytes):
            key = key_in_signature(header_of(body))
            if key is not None:
                yield key


def _of_block(data: bytes, keyring: Keyring) -> TrustedKey:
    fingerprints = keyring.fingerprints_in(data)
    if len(fingerprints) != 1:
        raise InvalidInput(f"this holds {counted(len(fingerprints), 'OpenPGP key')}, not one")
    return _of_keyring(fingerprints[0], keyring)


def _of_keyring(digits: str, keyring: Keyring) -> TrustedKey:
    if len(digits) not in _FINGERPRINTS:
        raise InvalidInput(
            f"`{digits:.40}` may be short for several keys",
            "Give the whole fingerprint, as `gpg --list-keys` shows it",
        )
    held = keyring.held(digits)
    if held is None:
        raise InvalidInput(
            f"your keyring has no usable key with the fingerprint `{digits}`",
            "Import it with `gpg --import FILE`, and compare its fingerprint with its owner's",
        )
    return TrustedKey(held.fingerprint, OPENPGP, comment=held.name[:200])


def _without_blanks(text: str) -> str:
    return "".join(text.split())
