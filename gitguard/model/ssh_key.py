"""Public SSH keys: read from a line of text, or from a signature that carries one."""

from __future__ import annotations

import base64
import binascii

from gitguard.errors import InvalidInput
from gitguard.model.codec import sha256
from gitguard.model.value import Value

FINGERPRINT = "SHA256:"
"""How the fingerprint of an SSH key begins."""
KINDS = frozenset(
    (
        *("ssh-ed25519", "sk-ssh-ed25519@openssh.com", "ssh-rsa"),
        *("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
        "sk-ecdsa-sha2-nistp256@openssh.com",
    )
)
"""Keys that stand for one holder each, as OpenSSH names them; a certificate stands for many."""
_SIGNATURE, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG"
_LONGEST = 16 * 1024
_WAY_OUT = "Give the one line of a public key, such as that of `~/.ssh/id_ed25519.pub`"


class SshKey(Value):
    """A public SSH key."""

    kind: str
    data: str
    """The key itself, in base64."""
    comment: str = ""

    @property
    def line(self) -> str:
        """The key as a file of allowed signers has it, behind a name."""
        return f"{self.kind} {self.data}"

    @property
    def fingerprint(self) -> str:
        """The key's fingerprint, as `ssh-keygen -l` prints it."""
        digest = bytes.fromhex(sha256(base64.b64decode(self.data)))
        return FINGERPRINT + base64.b64encode(digest).decode().rstrip("=")


def read_public_key(text: str) -> SshKey:
    """Read the one line of a public key; raise `InvalidInput` for anything else.

    A line of a file of allowed signers, which may say that any signer counts, is none.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(text) > _LONGEST or len(lines) != 1:
        raise InvalidInput(f"this is not one public key, but {len(lines)} lines", _WAY_OUT)
    kind, _, data_and_comment = lines[0].strip().partition(" ")
    data, _, comment = data_and_comment.strip().partition(" ")
    if kind not in KINDS:
        raise InvalidInput(f"this is no public key of a kind that counts: `{kind:.40}`", _WAY_OUT)
    try:
        blob = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        blob = b""
    if _kind_of(blob) != kind:
        raise InvalidInput(f"this public key of the kind `{kind}` is damaged", _WAY_OUT)
    return SshKey(kind, base64.b64encode(blob).decode(), comment.strip())


def key_in_signature(text: str) -> SshKey | None:
    """Return the key that a signature says it is by, None where it says nothing of the kind.

    Whether it is by this key, only a check of the signature tells.
    """
    _, begin, after_begin = text.partition(_SIGNATURE)
    body, end, _ = after_begin.partition(_END)
    if not (begin and end) or len(body) > _LONGEST:
        return None
    try:
        blob = base64.b64decode("".join(body.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    if not blob.startswith(_MAGIC):
        return None
    key, _ = _string(blob[len(_MAGIC) + 4 :])
    kind = _kind_of(key)
    return SshKey(kind, base64.b64encode(key).decode()) if kind in KINDS else None


def _kind_of(blob: bytes) -> str:
    """Return the kind that a key names in itself; empty where nothing follows it."""
    kind, key_data = _string(blob)
    return kind.decode("ascii", "replace") if key_data else ""


def _string(data: bytes) -> tuple[bytes, bytes]:
    """Return the string that data begins with, by its length, and what follows it."""
    length = int.from_bytes(data[:4], "big")
    if len(data) < 4 + length:
        return b"", b""
    return data[4 : 4 + length], data[4 + length :]
