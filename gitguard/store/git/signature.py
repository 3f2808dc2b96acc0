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


def judge_ssh(said: str, *, holds: bool) -> SignatureVerdict:
    """Read what git says of an SSH signature; holds is whether it was content."""
    if "revocation file configured but not found" in said:
        return SignatureVerdict(UNKNOWN, reason="the file `gpg.ssh.revocationFile` cannot be read")
    found = _BY_SSH.search(said)
    signer, key = (found[1] or "", found[2]) if found else ("", "")
    if holds and signer:
        return SignatureVerdict(GOOD, _name(signer), key)
    if found:
        expired = "key has expired" in said
        why = "has expired" if expired else "belongs to no allowed signer"
        return SignatureVerdict(BAD if expired else UNKNOWN, key=key, reason=f"its key {key} {why}")
    if "cannot run" in said:
        return SignatureVerdict(UNKNOWN, reason=f"it cannot be checked: {heard(said)}")
    why = f"it is not of this content, or its key was revoked: {heard(said)}"
    return SignatureVerdict(BAD, reason=why)


def judge_gpg(said: str, *, holds: bool) -> SignatureVerdict:
    """Read what git says of an OpenPGP or X.509 signature; holds is whether it was content."""
    told: dict[str, list[str]] = {}
    for line in said.splitlines():
        mark, name, *words = [*line.split(" "), "", ""]
        if mark == "[GNUPG:]":
            told.setdefault(name, [word for word in words if word])
    keys = told.get("VALIDSIG", [])
    signer = _name(" ".join(told.get("GOODSIG", [])[1:]))
    if holds and keys and "GOODSIG" in told:
        return SignatureVerdict(GOOD, signer, keys[-1])
    broken = next((name for name in _BROKEN if name in told), "")
    if broken:
        return SignatureVerdict(BAD, key=_key(told[broken]), reason=_BROKEN[broken])
    if "GOODSIG" in told:
        why = f"its key {_key(keys) or _key(told['GOODSIG'])} is not trusted fully"
        return SignatureVerdict(UNKNOWN, signer, _key(keys), why)
    if "NO_PUBKEY" in told:
        key = _key(told["NO_PUBKEY"])
        return SignatureVerdict(UNKNOWN, key=key, reason=f"its key {key} is not in your keyring")
    return SignatureVerdict(UNKNOWN, reason=f"it cannot be checked: {heard(said)}")


def heard(said: str) -> str:
    """Return what git complained about, in one line."""
    return shorten(git_words(said), _MOST_SAID) or "nothing"


def _name(text: str) -> str:
    return shorten(one_line(text), 120)


def _key(words: list[str]) -> str:
    return words[0] if words else ""
