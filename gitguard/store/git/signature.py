"""What a checkpoint's signature is worth, read from what git says of it."""

from __future__ import annotations

import re

from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.store.git.complaints import git_words

GOOD = "good"
UNSIGNED = "unsigned"
BAD = "bad"
"""Not of this content, or by a key that was revoked or has expired."""
UNKNOWN = "unknown"
"""By somebody who may not sign here, or nobody can tell by whom."""

OPENPGP, X509, SSH = "openpgp", "x509", "ssh"
KINDS = {
    "-----BEGIN PGP SIGNATURE-----": OPENPGP,
    "-----BEGIN PGP MESSAGE-----": OPENPGP,
    "-----BEGIN SIGNED MESSAGE-----": X509,
    "-----BEGIN SSH SIGNATURE-----": SSH,
}
"""The kinds of signatures by how they begin."""
_MOST_SAID = 300
_BY_SSH = re.compile(r'Good "git" signature (?:for (.+) )?with \S+ key (\S+)')
_BROKEN = {
    "BADSIG": "the signature is not of this content",
    "REVKEYSIG": "the key that signed it was revoked",
    "EXPKEYSIG": "the key that signed it has expired",
    "EXPSIG": "the signature has expired",
}


class SignatureVerdict(Value):
    """What a checkpoint's signature is worth."""

    standing: str
    """good, unsigned, bad or unknown."""
    signer: str = ""
    """Who signed: an allowed signer's name, or the name in the key."""
    key: str = ""
    """The key's fingerprint."""
    reason: str = ""
    """Why it is not good."""

    @property
    def is_good(self) -> bool:
        """Whether somebody who may sign here signed exactly this."""
        return self.standing == GOOD


def judge_ssh(output: str, *, holds: bool) -> SignatureVerdict:
    """Read what git says of an SSH signature; holds is whether it was content."""
    if "revocation file configured but not found" in output:
        return SignatureVerdict(UNKNOWN, reason="the file `gpg.ssh.revocationFile` cannot be read")
    match = _BY_SSH.search(output)
    signer, key = (match[1] or "", match[2]) if match else ("", "")
    if holds and signer:
        return SignatureVerdict(GOOD, _name(signer), key)
    if match:
        expired = "key has expired" in output
        why = "has expired" if expired else "belongs to no allowed signer"
        return SignatureVerdict(BAD if expired else UNKNOWN, key=key, reason=f"its key {key} {why}")
    if "cannot run" in output:
        return SignatureVerdict(UNKNOWN, reason=f"it cannot be checked: {heard(output)}")
    why = f"it is not of this content, or its key was revoked: {heard(output)}"
    return SignatureVerdict(BAD, reason=why)


def judge_gpg(output: str, *, holds: bool) -> SignatureVerdict:
    """Read what git says of an OpenPGP or X.509 signature; holds is whether it was content."""
    statuses: dict[str, list[str]] = {}
    for line in output.splitlines():
        # A blank line or a mark alone has fewer words; the empty ones make up for it.
        mark, name, *words = [*line.split(" "), "", ""]
        if mark == "[GNUPG:]":
            statuses.setdefault(name, [word for word in words if word])
    keys = statuses.get("VALIDSIG", [])
    # GOODSIG is key and name; VALIDSIG ends with the primary key's fingerprint.
    signer = _name(" ".join(statuses.get("GOODSIG", [])[1:]))
    if holds and keys and "GOODSIG" in statuses:
        return SignatureVerdict(GOOD, signer, keys[-1])
    broken = next((name for name in _BROKEN if name in statuses), "")
    if broken:
        return SignatureVerdict(BAD, key=_key(statuses[broken]), reason=_BROKEN[broken])
    if "GOODSIG" in statuses:
        why = f"its key {_key(keys) or _key(statuses['GOODSIG'])} is not trusted fully"
        return SignatureVerdict(UNKNOWN, signer, _key(keys), why)
    if "NO_PUBKEY" in statuses:
        key = _key(statuses["NO_PUBKEY"])
        return SignatureVerdict(UNKNOWN, key=key, reason=f"its key {key} is not in your keyring")
    return SignatureVerdict(UNKNOWN, reason=f"it cannot be checked: {heard(output)}")


def heard(output: str) -> str:
    """Return what git complained about, in one line."""
    return shorten(git_words(output), _MOST_SAID) or "nothing"


def _name(text: str) -> str:
    return shorten(one_line(text), 120)


def _key(words: list[str]) -> str:
    return words[0] if words else ""
