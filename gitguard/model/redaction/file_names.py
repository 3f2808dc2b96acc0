"""Files that hold secrets by what they are called; nothing of them is kept.

The names are those of widely used programs. What lies in a file of another name is searched.
"""

from __future__ import annotations

_NAMES = frozenset(
    (
        ".env", ".envrc", ".netrc", "_netrc", ".pgpass", ".npmrc", ".yarnrc.yml", ".pypirc",
        ".git-credentials", ".htpasswd", ".dockercfg", ".vault-token", "credentials",
        "credentials.json", "service-account.json", "secrets.json", "secrets.yml", "secrets.yaml",
        "secrets.toml", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk",
        "id_ed25519_sk", "terraform.tfvars", "kubeconfig",
    )
)  # fmt: skip
_ENDINGS = (
    ".env", ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc.key",
    ".tfstate", ".tfstate.backup", ".auto.tfvars",
)  # fmt: skip
_COPIES = ("~", ".bak", ".old", ".orig", ".save", " copy")
"""How editors and people end the names of copies."""
_EXAMPLES = ("example", "sample", "template", "dist", "defaults", "test")
"""Last parts of the names of environment files that are made to be read."""


def is_secret_file(path: str) -> bool:
    """Say whether a file's name alone says that it holds secrets."""
    name = path.rpartition("/")[2].lower().strip("#")
    for ending in _COPIES:
        name = name.removesuffix(ending)
    if name.startswith(".env."):
        return name.rpartition(".")[2] not in _EXAMPLES
    return name in _NAMES or name.endswith(_ENDINGS)
