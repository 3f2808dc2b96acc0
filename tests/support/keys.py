"""Keys to sign with, made with the programs that people use, and the machines that have them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from gitguard.store.session.workspace import UserDirs
from tests.support.needed import need


def run(*command: str, home: Path, **environment: str) -> str:
    """Run a program as the user whose home it is."""
    need(command[0])
    surroundings = {"PATH": os.environ["PATH"], "HOME": str(home), **environment}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


class Machine:
    """A home with keys and git settings, and gitguard's places in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(exist_ok=True)
        self.gnupg = ""
        self.config("sign: true\n")

    @property
    def places(self) -> UserDirs:
        keys = {"GNUPGHOME": self.gnupg} if self.gnupg else {}
        return UserDirs(
            state_home=str(self.home / "state"),
            config_home=str(self.home / "config"),
            environment={"PATH": os.environ["PATH"], "HOME": str(self.home), **keys},
        )

    def config(self, text: str) -> None:
        """Write the user's `config.yaml`."""
        folder = self.home / "config"
        folder.mkdir(exist_ok=True)
        (folder / "config.yaml").write_text(text)

    def git_config(self, **settings: object) -> None:
        """Set git's own settings of the user, `_` standing for a dot."""
        for name, value in settings.items():
            key = name.replace("_", ".")
            run("git", "config", "--global", key, str(value), home=self.home)

    def use_ssh(self, key: Path, allowed: Path) -> None:
        self.git_config(gpg_format="ssh", user_signingkey=key, gpg_ssh_allowedSignersFile=allowed)

    def use_gpg(self, folder: str, key: str) -> None:
        self.gnupg = folder
        self.git_config(gpg_format="openpgp", user_signingkey=key)

    def verify(self, root: Path, commit: str) -> str:
        """Check a signature with plain git; fail unless it is good."""
        keys = {"GNUPGHOME": self.gnupg} if self.gnupg else {}
        return run("git", "-C", str(root), "verify-commit", commit, home=self.home, **keys)


class SshKeys:
    """Key pairs in a folder, and the file that says which of them count."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.allowed = folder / "allowed_signers"

    def make(self, name: str, *, passphrase: str = "", allow: bool = True) -> Path:
        """Make a key pair; return the public key's path."""
        path = self.folder / name
        run(
            "ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", str(path), home=self.folder
        )
        if allow:
            self.allow(name)
        return path.with_suffix(".pub")

    def allow(self, name: str, options: str = "") -> None:
        """Let a key count."""
        public = (self.folder / f"{name}.pub").read_text()
        with self.allowed.open("a") as file:
            file.write(f"{name}@machine {options}{public}")


class GpgKeys:
    """A keyring of its own."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def stop(self) -> None:
        """End the agent, which forgets what it knows."""
        run("gpgconf", "--homedir", self.folder, "--kill", "all", home=Path(self.folder))

    def trust(self, fingerprint: str, level: int) -> None:
        """Trust a key's owner, from 2 for not at all to 6 for ultimately."""
        path = Path(self.folder) / "ownertrust"
        path.write_text(f"{fingerprint}:{level}:\n")
        self.gpg("--import-ownertrust", str(path))

    def gpg(self, *arguments: str) -> str:
        command = ("gpg", "--homedir", self.folder, "--batch", "--quiet", "--yes", *arguments)
        return run(*command, home=Path(self.folder))

    def make(self, name: str, *, passphrase: str = "") -> str:
        """Make a key pair; return its fingerprint."""
        user = f"{name} <{name}@example.invalid>"
        options = ("--pinentry-mode", "loopback", "--passphrase", passphrase)
        self.gpg(*options, "--quick-gen-key", user, "ed25519", "sign", "never")
        listed = self.gpg("--list-keys", "--with-colons", f"={user}").splitlines()
        return next(line for line in listed if line.startswith("fpr")).split(":")[9]
