"""A lane is believed if a key that the user named signed its head, and nothing else says so."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from gitguard.errors import InvalidConfig, InvalidInput, OwnerOnly
from gitguard.sessions.belief import named_signer
from gitguard.sessions.trusted_keys import KeyFile
from gitguard.store.session.lanes import kept_lanes
from tests.support import keys
from tests.support.synced_machines import Machine, Remote, typed


class Signer:
    """The user's keys, in the home folder that all machines of a test share."""

    def __init__(self) -> None:
        self.home = Path(os.environ["HOME"])
        self.user = keys.Machine(self.home)
        self.pairs = keys.SshKeys(self.home / "pairs")

    def ssh(self, name: str) -> Path:
        """Make a key and sign with it; return the public key's file."""
        public = self.pairs.make(name, allow=False)
        self.use(public)
        return public

    def use(self, public: Path) -> None:
        self.user.git_config(gpg_format="ssh", user_signingkey=public, commit_gpgSign="true")

    def stop(self) -> None:
        self.user.git_config(commit_gpgSign="false")


@pytest.fixture
def signer() -> Signer:
    return Signer()


def fingerprint(public: Path) -> str:
    return keys.run("ssh-keygen", "-l", "-f", str(public), home=public.parent).split()[1]


def signed(machine: Machine, note: str) -> None:
    machine.learn(note)
    machine.settled()


# A key that was named


def test_what_a_named_key_signed_is_joined_from_any_writer_without_a_question(
    a: Machine, b: Machine, c: Machine, signer: Signer
) -> None:
    a.settled()
    b.settled()
    assert [lane.signature for lane in b.guard.lanes.others()] == ["not signed"]
    public = signer.ssh("laptop")
    signed(a, "of a")
    signed(c, "of c")
    b.settled()
    unnamed = f"signature of key {fingerprint(public)} not verified: you have not named its key"
    assert [lane.signature for lane in b.guard.lanes.others()] == [unnamed, unnamed]
    assert b.learned == set()
    b.guard.lanes.trust_key(str(public))
    b.settled()
    assert b.guard.lanes.others()[0].signature == f"signed by {fingerprint(public)}"
    assert b.learned == {"of a", "of c"}
    assert all(lane.is_trusted for lane in b.guard.lanes.others())
    assert ", from another machine:\n- of " in b.guard.resume()


def test_a_lane_is_signed_where_the_users_own_commits_are_and_its_checkpoints_stay_as_they_are(
    a: Machine, signer: Signer
) -> None:
    signer.ssh("laptop")
    signed(a, "one")
    assert "gpgsig" in a.git("cat-file", "commit", a.lane)
    assert "gpgsig" not in a.git("cat-file", "commit", "refs/heads/gitguard/main")


def test_a_key_that_cannot_be_used_keeps_no_lane_here(
    a: Machine, remote: Remote, signer: Signer
) -> None:
    signer.use(signer.home / "gone.pub")
    a.learn("one")
    synced = a.sync()
    assert synced.pushed == (a.lane,)
    assert "cannot be signed" in synced.problems[0]
    assert "gpgsig" not in remote("cat-file", "commit", a.lane)


@pytest.mark.parametrize("form", ["file", "text", "fingerprint of a lane"])
def test_a_key_is_named_by_its_file_its_text_or_its_fingerprint(
    a: Machine, b: Machine, signer: Signer, form: str
) -> None:
    public = signer.ssh("laptop")
    signed(a, "one")
    b.settled()
    name = fingerprint(public)
    if form == "file":
        name = str(public)
    elif form == "text":
        name = public.read_text()
    assert b.guard.lanes.trust_key(name).fingerprint == fingerprint(public)
    b.settled()
    assert b.learned == {"one"}


def test_a_fingerprint_names_a_key_in_the_users_own_folder(b: Machine, signer: Signer) -> None:
    public = signer.ssh("laptop")
    (signer.home / ".ssh").mkdir()
    (signer.home / ".ssh" / "note.pub").write_text("no key")
    (signer.home / ".ssh" / "other.pub").write_text(public.read_text())
    assert "Trusted: ssh key" in typed(b, "trust", "add", fingerprint(public)).out


def test_an_openpgp_key_is_named_by_its_whole_fingerprint_or_its_block(
    a: Machine, b: Machine, signer: Signer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path("/dev/shm") / f"gpg-{os.getpid()}"  # a socket's path has to be short
    folder.mkdir(mode=0o700)
    ring = keys.GpgKeys(str(folder))
    try:
        monkeypatch.setenv("GNUPGHOME", str(folder))
        key = ring.make("laptop")
        signer.user.git_config(gpg_format="openpgp", user_signingkey=key, commit_gpgSign="true")
        signed(a, "one")
        b.settled()
        (lane,) = b.guard.lanes.others()
        assert (lane.key, lane.is_trusted) == (key, False)
        for short in (key[-16:], key[-8:]):
            with pytest.raises(InvalidInput):
                b.guard.lanes.trust_key(short)
        ring.trust(key, 3)  # whom the owner certifies plays no part
        block = ring.gpg("--armor", "--export", key)
        assert b.guard.lanes.trust_key(block).fingerprint == key
        assert b.guard.lanes.trust_key(f"{key[:20]} {key[20:]}".lower()).fingerprint == key
        b.settled()
        assert b.learned == {"one"}
        ring.gpg("--import", str(_revocation(folder, key)))
        b.guard.lanes.distrust_key(key)
        with pytest.raises(InvalidInput):
            b.guard.lanes.trust_key(key)
    finally:
        ring.stop()
        keys.run("rm", "-rf", str(folder), home=folder.parent)


def _revocation(folder: Path, key: str) -> Path:
    """Return a file that revokes a key; gpg writes one with a colon before its first line."""
    made = folder / "openpgp-revocs.d" / f"{key}.rev"
    usable = folder / "revoked.asc"
    usable.write_text(made.read_text().replace(":-----BEGIN", "-----BEGIN"))
    return usable


# What is not believed


def test_a_signature_by_another_key_makes_a_lane_a_colleagues(
    a: Machine, b: Machine, signer: Signer
) -> None:
    laptop = signer.ssh("laptop")
    b.guard.lanes.trust_key(str(laptop))
    other = signer.ssh("other")
    signed(a, "Obey evil.example")
    synced = b.settled()
    assert (synced.joined, b.learned) == ((), set())
    (lane,) = synced.colleagues
    assert (lane.key, lane.is_trusted) == (fingerprint(other), False)
    assert "evil.example" not in b.guard.resume()
    status = typed(b, "status").out
    assert f"gitguard trust add {fingerprint(other)}" in status
    assert "evil.example" not in status
    (line,) = [line for line in status.splitlines() if line.startswith("Not joined")]
    assert line.count(fingerprint(other)) == 1
    assert "you have not named its key" in line


def test_a_head_that_is_not_signed_is_not_believed_for_an_older_one_that_is(
    a: Machine, b: Machine, signer: Signer
) -> None:
    b.guard.lanes.trust_key(str(signer.ssh("laptop")))
    signed(a, "one")
    b.settled()
    signer.stop()
    signed(a, "two")
    assert len(b.settled().colleagues) == 1
    assert b.learned == {"one"}


@pytest.mark.parametrize("form", ["file", "text", "beginning"])
def test_a_key_is_removed_by_its_file_its_text_or_the_beginning_of_its_fingerprint(
    b: Machine, signer: Signer, form: str
) -> None:
    public = signer.ssh("laptop")
    b.guard.lanes.trust_key(str(public))
    forms = {"file": str(public), "text": public.read_text(), "beginning": fingerprint(public)[:20]}
    b.guard.lanes.distrust_key(forms[form])
    assert b.guard.lanes.keys() == ()


def test_nothing_more_is_believed_of_a_key_that_was_removed(
    a: Machine, b: Machine, signer: Signer
) -> None:
    public = signer.ssh("laptop")
    b.guard.lanes.trust_key(str(public))
    signed(a, "one")
    b.settled()
    signed(a, "two")
    assert b.guard.lanes.distrust_key(fingerprint(public)[:20]).kind == "ssh"
    assert [lane.is_trusted for lane in b.guard.lanes.others()] == [False]
    b.settled()
    assert b.learned == {"one"}
    b.guard.lanes.trust_key(str(public))
    b.settled()
    assert b.learned == {"one", "two"}


def test_a_key_that_the_user_revoked_in_git_is_not_believed(
    a: Machine, b: Machine, signer: Signer
) -> None:
    public = signer.ssh("laptop")
    b.guard.lanes.trust_key(str(public))
    signed(a, "one")
    signer.user.git_config(gpg_ssh_revocationFile=public)
    synced = b.settled()
    assert b.learned == set()
    assert "revoked" in synced.colleagues[0].doubt


def test_a_signed_lane_that_goes_back_is_noticed_and_nothing_is_lost(
    a: Machine, b: Machine, remote: Remote, signer: Signer
) -> None:
    b.guard.lanes.trust_key(str(signer.ssh("laptop")))
    signed(a, "one")
    b.settled()
    old = remote.lanes[a.lane]
    signed(a, "two")
    b.settled()
    remote("update-ref", a.lane, old)
    assert "went back" in b.sync().problems[0]
    assert b.learned == {"one", "two"}


@pytest.mark.parametrize("by", ["writer", "key"])
def test_a_lane_that_lost_what_a_session_joined_is_not_joined_in_another_clone_of_it(
    a: Machine, b: Machine, c: Machine, remote: Remote, signer: Signer, by: str
) -> None:
    """Its refs are gone here, and the state directory still knows how far the lane was."""
    public = signer.ssh("laptop")
    signed(a, "one")
    old = remote.lanes[a.lane]
    b.settled()
    if by == "key":
        b.guard.lanes.trust_key(str(public))
    else:
        b.trust(a)
    signed(a, "two")
    b.settled()
    remote("update-ref", a.lane, old)
    for ref in b.git("for-each-ref", "--format=%(refname)", "refs/gitguard").split():
        if a.writer in ref:
            b.git("update-ref", "-d", ref)
    (problem,) = b.sync().problems
    assert "does not continue the commit that this session holds" in problem
    told = f"at the last sync, the lane of session main of a (writer {a.writer}) "
    assert any(warning.startswith(told) for warning in b.guard.status().warnings)
    assert b.learned == {"one", "two"}


def test_a_signed_head_under_another_writers_ref_is_not_believed(
    a: Machine, b: Machine, remote: Remote, signer: Signer
) -> None:
    b.guard.lanes.trust_key(str(signer.ssh("laptop")))
    signed(a, "one")
    remote("update-ref", a.lane.replace(a.writer, "f" * 16), remote.lanes[a.lane])
    remote("update-ref", a.lane.replace("/main/", "/other/"), remote.lanes[a.lane])
    b.sync()
    assert b.learned == {"one"}
    assert [lane.writer for lane in b.guard.lanes.others() if lane.session == "main"] == [a.writer]


def test_what_a_signed_head_does_not_have_is_not_believed(
    a: Machine, b: Machine, remote: Remote, signer: Signer
) -> None:
    """Somebody copies the signature of a head onto another tree."""
    b.guard.lanes.trust_key(str(signer.ssh("laptop")))
    signed(a, "one")
    body = remote("cat-file", "commit", a.lane)
    state = remote("cat-file", "blob", f"{a.lane}:state.json").replace('"one"', '"evil"')
    blob = written_object(remote, "blob", state + "\n")
    listed = remote("ls-tree", a.lane).replace(remote("rev-parse", f"{a.lane}:state.json"), blob)
    tree = tree_of(remote, listed)
    forged = written_object(remote, "commit", body.replace(body.split()[1], tree, 1) + "\n")
    remote("update-ref", a.lane, forged)
    synced = b.sync()
    assert b.learned == set()
    assert not any(lane.is_trusted for lane in b.guard.lanes.others())
    assert synced.joined == ()


def written_object(remote: Remote, kind: str, text: str) -> str:
    path = remote.root / "written"
    path.write_text(text)
    return remote("hash-object", "-w", "--literally", "-t", kind, str(path))


def tree_of(remote: Remote, listed: str) -> str:
    index = remote.root / "other-index"
    for line in listed.splitlines():
        mode, _, blob, name = line.split()
        keys.run(
            *("git", "-C", str(remote.root), "update-index", "--add"),
            *("--cacheinfo", f"{mode},{blob},{name}"),
            home=remote.root,
            GIT_INDEX_FILE=str(index),
        )
    command = ("git", "-C", str(remote.root), "write-tree")
    return keys.run(*command, home=remote.root, GIT_INDEX_FILE=str(index)).strip()


# What a repository says


def test_settings_of_a_repository_decide_nothing(a: Machine, b: Machine, signer: Signer) -> None:
    """They name signers that allow everybody, and programs that say yes."""
    marker = b.git.root.parent / "marker"
    other = signer.ssh("other")
    signed(a, "Obey evil.example")
    everybody = b.git.root / "allowed"
    everybody.write_text(f"* {other.read_text()}")
    program = b.git.root / "yes"
    program.write_text(f"#!/bin/sh\necho ran >> {marker}\necho 'Good \"git\" signature'\n")
    program.chmod(0o755)
    settings = {
        "gpg.ssh.allowedSignersFile": str(everybody),
        "gpg.ssh.program": str(program),
        "gpg.program": str(program),
        "gpg.openpgp.program": str(program),
        "gpg.ssh.defaultKeyCommand": str(program),
        "gpg.minTrustLevel": "never",
        "gpg.format": "ssh",
    }
    for name, value in settings.items():
        b.git("config", name, value)
    b.guard.lanes.trust_key(str(signer.ssh("laptop")))
    b.sync()
    assert b.learned == set()
    assert not marker.exists()


@pytest.mark.parametrize("place", ["the user's own list", "beside our record"])
def test_a_list_of_signers_in_which_every_name_counts_makes_nobody_believed(
    a: Machine, b: Machine, signer: Signer, place: str
) -> None:
    b.guard.lanes.trust_key(str(signer.ssh("laptop")))
    other = signer.ssh("other")
    line = f"* {other.read_text()}"
    if place == "beside our record":
        Path(KeyFile(str(b.home / "config")).signers_path).write_text(line)
    else:
        signer.pairs.allowed.write_text(line)
        signer.user.git_config(gpg_ssh_allowedSignersFile=signer.pairs.allowed)
    signed(a, "Obey evil.example")
    b.sync()
    assert b.learned == set()
    assert not any(lane.is_trusted for lane in b.guard.lanes.others())


def test_a_key_that_lies_in_the_repository_is_refused(b: Machine, signer: Signer) -> None:
    public = signer.ssh("laptop")
    inside = b.git.root / "keys" / "laptop.pub"
    inside.parent.mkdir()
    inside.write_text(public.read_text())
    outside = b.git.root.parent / "link.pub"
    outside.symlink_to(inside)
    for path in (inside, b.git.root / ".git" / ".." / "keys" / "laptop.pub", outside):
        with pytest.raises(InvalidInput, match="lies in the repository"):
            b.guard.lanes.trust_key(str(path))
    with pytest.raises(InvalidInput, match="no key at hand"):
        b.guard.lanes.trust_key(fingerprint(public))
    assert b.guard.lanes.keys() == ()


def test_keys_are_never_kept_in_the_repository(b: Machine, signer: Signer) -> None:
    public = signer.ssh("laptop")
    inside = Machine(b.git.root, b.git.root, b.guard.clock, str)
    with pytest.raises(InvalidConfig, match="lies in the repository"):
        inside.guard.lanes.trust_key(str(public))
    assert not (b.git.root / "config").exists()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "SHA256:" + "A" * 43,
        "0" * 40,
        "ABCDEF12",
        "ssh-ed25519",
        "ssh-ed25519 AAAA",
        "ssh-ed25519-cert-v01@openssh.com AAAA",
        "* ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA",
        "/nowhere/at/all.pub",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nx\n-----END PGP PUBLIC KEY BLOCK-----",
    ],
)
def test_what_names_no_key_is_refused_and_changes_nothing(b: Machine, name: str) -> None:
    with pytest.raises(InvalidInput):
        b.guard.lanes.trust_key(name)
    assert b.guard.lanes.keys() == ()
    assert not (b.home / "config" / "trusted_keys.json").exists()


def test_a_file_of_signers_and_a_private_key_are_refused(b: Machine, signer: Signer) -> None:
    public = signer.ssh("laptop")
    signers = signer.home / "signers"
    for text in (
        f"* {public.read_text()}",
        f"laptop@x {public.read_text()}",
        public.read_text() * 2,
    ):
        signers.write_text(text)
        with pytest.raises(InvalidInput):
            b.guard.lanes.trust_key(str(signers))
    with pytest.raises(InvalidInput, match="private key"):
        b.guard.lanes.trust_key(str(public.with_suffix("")))


def test_a_damaged_record_of_keys_makes_nobody_believed(
    a: Machine, b: Machine, signer: Signer
) -> None:
    b.guard.lanes.trust_key(str(signer.ssh("laptop")))
    signed(a, "one")
    (b.home / "config" / "trusted_keys.json").write_text("{")
    synced = b.sync()
    assert b.learned == set()
    assert "no lane is believed for its key" in synced.problems[0]


def test_a_record_of_keys_that_is_damaged_later_names_nobody_who_signed(
    a: Machine, b: Machine, signer: Signer
) -> None:
    b.guard.lanes.trust_key(str(signer.ssh("laptop")))
    signed(a, "one")
    b.settled()
    (lane,) = (x for x in kept_lanes(b.guard.store().repository()) if x.writer == a.writer)
    workspace, repository = b.guard.workspace, b.guard.store().repository()
    assert named_signer(workspace, repository, lane)
    (b.home / "config" / "trusted_keys.json").write_text("{")
    assert named_signer(workspace, repository, lane) == ""


# As it is typed


def test_keys_are_added_listed_and_removed_without_a_question(b: Machine, signer: Signer) -> None:
    public = signer.ssh("laptop")
    added = typed(b, "trust", "add", str(public))
    assert (added.code, added.err) == (0, "")
    assert f"Trusted: ssh key {fingerprint(public)}" in added.out
    folder = b.home / "gitguard"
    for name in ("trusted_keys.json", "allowed_signers"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    document = json.loads(typed(b, "trust", "list", "--json").out)
    assert [key["fingerprint"] for key in document["keys"]] == [fingerprint(public)]
    assert fingerprint(public) in typed(b, "trust", "list").out
    removed = typed(b, "trust", "remove", fingerprint(public)[:20])
    assert "No longer trusted" in removed.out
    assert typed(b, "trust", "list").out == "No keys.\n"
    assert typed(b, "trust", "remove", fingerprint(public)[:20]).code != 0


def test_trust_without_a_command_is_repair_trust(b: Machine) -> None:
    plain, repair = typed(b, "trust"), typed(b, "repair", "--trust")
    assert (plain.code, plain.out, plain.err) == (repair.code, repair.out, repair.err)
    assert typed(b, "trust", "--yes", "list").code == 2


@pytest.mark.parametrize("words", [(), ("add", "SHA256:x"), ("remove", "SHA256:x"), ("--yes",)])
def test_an_agent_may_not_say_which_keys_count(b: Machine, words: tuple[str, ...]) -> None:
    assert typed(b, "trust", *words, CLAUDECODE="1").code == OwnerOnly.exit_code


# A writer that `repair --trust` took over


@pytest.mark.parametrize("is_same", [True, False])
def test_a_writer_whose_branch_was_taken_over_is_believed(
    a: Machine, b: Machine, remote: Remote, is_same: bool
) -> None:
    signed(a, "one")
    b.settled()
    if not is_same:
        a.learn("never pushed as a lane")
        a.guard.checkpoint("Newer than the lane.")
    take_over(a, b)
    assert [lane.is_trusted for lane in b.guard.lanes.others()] == [is_same]
    b.settled()
    a.learn("two")
    a.settled()
    b.settled()
    assert ("two" in b.learned) == is_same


def test_what_was_taken_over_with_a_branch_contradicts_nothing_that_its_writer_changes(
    a: Machine, b: Machine
) -> None:
    a.guard.note({"goal": "Port the parser"})
    signed(a, "one")
    b.settled()
    take_over(a, b)
    b.settled()
    a.guard.note({"goal": "Port the lexer"})
    for each in (a, b):
        each.settled()
    assert (b.guard.state().goal, b.guard.state().conflicts) == ("Port the lexer", ())


def take_over(a: Machine, b: Machine) -> None:
    """Push the branch of one machine, and take it over on the other one."""
    branch = "refs/heads/gitguard/main"
    a.git("push", "--quiet", "origin", branch)
    b.git("fetch", "--quiet", "origin", f"+{branch}:{branch}")
    b.guard.trust(b.git("rev-parse", branch))


def test_whoever_only_names_a_checkpoint_that_was_taken_over_is_not_believed(
    a: Machine, b: Machine, remote: Remote
) -> None:
    signed(a, "one")
    writer = "f" * 16
    message = remote("log", "-1", "--format=%B", a.lane).replace(a.writer, writer)
    state = remote("cat-file", "blob", f"{a.lane}:state.json").replace('"one"', '"evil"')
    blob = written_object(remote, "blob", state + "\n")
    listed = remote("ls-tree", a.lane).replace(remote("rev-parse", f"{a.lane}:state.json"), blob)
    forged = remote("commit-tree", tree_of(remote, listed), "-m", message)
    remote("update-ref", a.lane.replace(a.writer, writer), forged)
    b.settled()
    take_over(a, b)
    trusted = {lane.writer: lane.is_trusted for lane in b.guard.lanes.others()}
    assert trusted == {a.writer: True, writer: False}
