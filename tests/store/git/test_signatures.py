"""Signed checkpoints: made and checked with the user's own keys, and what they let in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.errors import GitguardError, Tampered, Untrusted
from gitguard.guard import Guard
from gitguard.model import events
from gitguard.model.events import Abilities, HookEvent
from gitguard.sessions.signed_head import MOST_SIGNED, Ahead, judge
from gitguard.state.checkpoint import Checkpoint, Code
from gitguard.state.entries import JournalEntry
from gitguard.state.items import texts
from gitguard.store.git import plumbing
from gitguard.store.git.place import locate
from gitguard.store.git.repository import Repository
from gitguard.store.git.signature import (
    BAD,
    GOOD,
    UNKNOWN,
    UNSIGNED,
    SignatureVerdict,
    judge_gpg,
    judge_ssh,
)
from gitguard.store.session.workspace import Session
from tests.conftest import Clock, Git
from tests.support.keys import GpgKeys, Machine, SshKeys
from tests.support.scratch import BIN
from tests.support.session_branches import BRANCH
from tests.support.session_files import session_file
from tests.support.unwritable import read_only

NOW = "2026-01-31T09:30:00Z"


@pytest.fixture
def ssh_keys(tmp_path: Path) -> SshKeys:
    return SshKeys(tmp_path / "keys")


@pytest.fixture
def gpg_keys() -> Iterator[GpgKeys]:
    # Not in the test's own folder: the socket of the agent needs a short path.
    with tempfile.TemporaryDirectory(prefix="gg-", ignore_cleanup_errors=True) as folder:
        keys = GpgKeys(folder)
        yield keys
        keys.stop()


@pytest.fixture
def here(hermetic_seal: Path, ssh_keys: SshKeys) -> Machine:
    """The machine of the repository; its home is the one that tests run git with."""
    machine = Machine(hermetic_seal)
    machine.use_ssh(ssh_keys.make("here"), ssh_keys.allowed)
    return machine


@pytest.fixture
def there(tmp_path: Path, ssh_keys: SshKeys) -> Machine:
    """Another machine of the same user, with a key of its own."""
    machine = Machine(tmp_path / "there")
    machine.use_ssh(ssh_keys.make("there"), ssh_keys.allowed)
    return machine


@pytest.fixture
def guard(here: Machine, repo: Path, clock: Clock) -> Guard:
    return Guard(str(repo), here.places, clock)


class Elsewhere:
    """A clone on another machine, whose checkpoints come back by a fetch."""

    def __init__(self, begun: Guard, git: Git, folder: Path, machine: Machine) -> None:
        self.clone = git.at(folder / "clone")
        self.machine = machine
        self._begun = begun
        self._git = git
        git("clone", "--quiet", ".", str(self.clone.root))
        self.guard.trust()

    @property
    def guard(self) -> Guard:
        return Guard(str(self.clone.root), self.machine.places, self._begun.clock)

    def work(self, *goals: str) -> None:
        for goal in goals:
            saved = self.guard.note({"goal": goal}).saved
            assert saved is not None
            assert saved.commit, saved.pending

    def hand_over(self) -> str:
        """Bring the branch to our repository; return its head."""
        self._git("fetch", "--quiet", str(self.clone.root), f"+{BRANCH}:{BRANCH}")
        return self._git("rev-parse", BRANCH)


@pytest.fixture
def elsewhere(begun: Guard, git: Git, tmp_path: Path, there: Machine) -> Elsewhere:
    return Elsewhere(begun, git, tmp_path, there)


def reopened(guard: Guard, machine: Machine) -> Guard:
    return Guard(guard.workspace.place.worktree, machine.places, guard.clock)


def event_of(guard: Guard, kind: str, prompt: str = "") -> HookEvent:
    return HookEvent(kind, "host", guard.workspace.place.worktree, prompt=prompt)


def raw(git: Git, commit: str) -> str:
    return git("cat-file", "commit", commit)


# Signing


def test_every_checkpoint_verifies_with_plain_git(begun: Guard, git: Git, here: Machine) -> None:
    begun.checkpoint("A reason.")
    begun.restore("1")
    begun.sessions.fork(Session.of("fork"))
    commits = git("log", "--format=%H", BRANCH, "refs/heads/gitguard/fork").split()
    assert len(commits) == 6
    for commit in commits:
        here.verify(git.root, commit)
    git.fsck()


def test_what_a_purge_writes_anew_is_signed_anew(begun: Guard, git: Git, here: Machine) -> None:
    begun.note({"goal": "The pass phrase is correct horse battery staple"})
    begun.secrets.purge("3", reason="It leaked.", value="correct horse battery staple")
    assert "staple" not in git("show", f"{BRANCH}:state.json")
    for commit in git("log", "--format=%H", BRANCH).split():
        here.verify(git.root, commit)


def test_a_purge_signs_nothing_that_was_put_beside_our_history(
    begun: Guard, git: Git, here: Machine, elsewhere: Elsewhere
) -> None:
    begun.note({"goal": "The pass phrase is correct horse battery staple"})
    tree, message = git("rev-parse", f"{BRANCH}^{{tree}}"), git("log", "-1", "--format=%B", BRANCH)
    message = message.replace("Sequence: 3", "Sequence: 4")
    forged = git("commit-tree", tree, "-p", BRANCH, stdin=f"{message}\n")
    git("update-ref", f"refs/gitguard/archive/main/{forged[:12]}", forged)
    begun.secrets.purge("3", value="correct horse battery staple")
    anew = git("for-each-ref", "--format=%(objectname)", "refs/gitguard/archive/main/")
    assert anew not in ("", forged)
    assert "gpgsig" not in raw(git, anew)
    elsewhere.clone("fetch", "--quiet", str(git.root), f"+{anew}:{BRANCH}")
    block = elsewhere.guard.resume()
    assert "it is not signed" in block
    assert "correct horse" not in block


def test_gpg_signs_as_well(guard: Guard, git: Git, here: Machine, gpg_keys: GpgKeys) -> None:
    here.use_gpg(gpg_keys.folder, gpg_keys.make("ada"))
    signed = reopened(guard, here)
    signed.ensure()
    assert "-----BEGIN PGP SIGNATURE-----" in raw(git, BRANCH)
    here.verify(git.root, BRANCH)
    (checkpoint,) = signed.log()
    verdict = signed.store().signatures().verdict(checkpoint.id, checkpoint.signature)
    assert (verdict.standing, verdict.signer) == (GOOD, "ada <ada@example.invalid>")


def test_a_repository_of_sha256_is_signed_too(tmp_path: Path, here: Machine, clock: Clock) -> None:
    root = tmp_path / "long"
    root.mkdir()
    git = Git(root)
    git.start("--object-format=sha256")
    guard = Guard(str(root), here.places, clock)
    guard.ensure()
    guard.note({"goal": "Long ids"})
    assert "\ngpgsig-sha256 -----BEGIN SSH" in raw(git, BRANCH)
    here.verify(root, BRANCH)
    check = guard.store().signatures()
    assert [check.verdict(c.id, c.signature).standing for c in guard.log()] == [GOOD, GOOD]
    assert guard.ensure().state.goal == "Long ids"


def test_a_signature_is_all_that_is_added(here: Machine, git: Git) -> None:
    """Not an encoding, an identity or a date that the repository or the machine would like."""
    for name, value in {"i18n.commitEncoding": "ISO-8859-1", "user.name": "Eve"}.items():
        git("config", name, value)
    contents = {"state.json": b"{}\n", "summary.md": b"x\n"}
    message = "checkpoint 1: ä: ö\n\nWhy.\n\nGitguard-Session: é\n"
    bodies = []
    for signs in (False, True):
        place, environment = locate(str(git.root)), here.places.environment
        repository = Repository(place, environment, lambda: 1_790_000_000.7, signs=signs)
        commit = repository.write_commit(contents, git("rev-parse", "HEAD"), message)
        bodies.append(subprocess.check_output(["git", "cat-file", "commit", commit], cwd=git.root))
        assert git("cat-file", "-t", commit) == "commit"
    plain, signed = bodies
    before, _, rest = signed.partition(b"gpgsig ")
    _, _, after = rest.partition(b"-----END SSH SIGNATURE-----\n")
    assert before + after == plain


# When the key cannot be used


def break_key(here: Machine, ssh_keys: SshKeys, how: str, tmp_path: Path) -> None:
    if how == "no key":
        run_config = ("config", "--global", "--unset", "user.signingkey")
        subprocess.run(["git", *run_config], env=dict(here.places.environment), check=True)
    elif how == "gone":
        here.git_config(user_signingkey=tmp_path / "gone.pub")
    elif how == "locked":
        here.git_config(user_signingkey=ssh_keys.make("locked", passphrase="locked"))
    elif how == "no program":
        here.git_config(gpg_ssh_program=tmp_path / "gone")
    elif how == "hangs":
        program = tmp_path / "hangs"
        program.write_text("#!/bin/sh\nsleep 60\n")
        program.chmod(0o755)
        here.git_config(gpg_ssh_program=program)
    else:
        here.git_config(gpg_format="none-such")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("no key", "names no key"),
        ("gone", "git said:"),
        ("locked", "passphrase"),
        ("no program", "cannot run"),
        ("hangs", "did not end within"),
        ("unknown format", "none-such"),
    ],
)
def test_what_cannot_be_signed_waits_and_is_committed_later(
    begun: Guard,
    git: Git,
    here: Machine,
    ssh_keys: SshKeys,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    said: str,
) -> None:
    monkeypatch.setattr(plumbing, "KEY_TIME_LIMIT", 0.5 if how == "hangs" else 4)
    settings = (here.home / ".gitconfig").read_text()
    before = git("rev-parse", BRANCH)
    break_key(here, ssh_keys, how, tmp_path)
    saved = begun.note({"goal": "Unsigned yet"}).saved
    assert saved is not None
    assert saved.commit == ""
    assert "cannot be signed" in saved.pending
    assert said in saved.pending
    assert "user.signingkey" in saved.way_out
    assert "sign: false" in saved.way_out
    assert git("rev-parse", BRANCH) == before
    assert begun.state().goal == "Unsigned yet"
    (here.home / ".gitconfig").write_text(settings)
    assert begun.note({"learnings": ["It works again."]}).saved
    assert '"Unsigned yet"' in git("show", f"{BRANCH}:state.json")
    here.verify(git.root, BRANCH)
    git.fsck()


def test_a_locked_gpg_key_asks_nobody(
    begun: Guard, git: Git, here: Machine, gpg_keys: GpgKeys
) -> None:
    here.use_gpg(gpg_keys.folder, gpg_keys.make("ada", passphrase="locked"))
    gpg_keys.stop()
    saved = reopened(begun, here).checkpoint("A reason.")
    assert "cannot be signed" in saved.pending


def test_what_a_key_started_does_not_keep_the_lock_of_a_killed_process(
    begun: Guard, here: Machine, tmp_path: Path
) -> None:
    program, number = tmp_path / "program", tmp_path / "number"
    program.write_text(
        f"#!/bin/sh\necho $$ > {number}.new; mv {number}.new {number}\nexec sleep 60\n"
    )
    program.chmod(0o755)
    here.git_config(gpg_ssh_program=program)
    process = os.fork()
    if not process:
        begun.checkpoint("Killed while it signs.")
        os._exit(1)
    while not number.exists():
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    try:
        with begun.store().lock(5):  # the git that was to move the ref needs a moment to end
            pass
    finally:
        os.killpg(os.getpgid(int(number.read_text())), signal.SIGKILL)


def test_a_hook_goes_on_without_a_signature(begun: Guard, here: Machine, tmp_path: Path) -> None:
    here.git_config(user_signingkey=tmp_path / "gone.pub")
    event = event_of(begun, events.COMPACTION_START)
    begun.handle(event, Abilities())
    assert begun.workspace.faults() == []
    assert begun.store().waits


# What a repository may not do


def test_programs_and_keys_that_a_repository_names_are_not_used(
    begun: Guard, git: Git, here: Machine, tmp_path: Path, elsewhere: Elsewhere
) -> None:
    marker, trap = tmp_path / "ran", git.root / "trap"
    trap.write_text(f"#!/bin/sh\necho ran >> {marker}\nexit 0\n")
    trap.chmod(0o755)
    for name in ("ssh-keygen", "gpg", "gpgsm"):
        (git.root / name).symlink_to(trap)
    for setting in (
        "gpg.program", "gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.program",
        "gpg.ssh.defaultKeyCommand", "user.signingkey", "core.sshCommand", "core.askPass",
    ):  # fmt: skip
        git("config", setting, str(trap))
    git("config", "gpg.format", "openpgp")
    git("config", "gpg.ssh.allowedSignersFile", str(git.root / "README.md"))
    git("config", "gpg.ssh.revocationFile", str(git.root / "README.md"))
    git("config", "gpg.minTrustLevel", "never")
    here_path = f".:{git.root}:{os.environ['PATH']}"
    places = here.places.replace(environment={**here.places.environment, "PATH": here_path})
    tricked = Guard(str(git.root), places, begun.clock)
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    assert tricked.ensure().state.goal == "Theirs"
    assert tricked.note({"goal": "Safe"}).saved
    begun.sessions.fork(Session.of("fork"))
    assert not marker.exists()
    for name in ("gpg.format", "gpg.ssh.program", "gpg.ssh.allowedSignersFile"):
        git("config", "--unset", name)
    git("config", "--unset", "gpg.ssh.revocationFile")
    here.verify(git.root, BRANCH)


def test_a_repository_without_a_user_key_lends_none(
    begun: Guard, git: Git, here: Machine, ssh_keys: SshKeys, tmp_path: Path
) -> None:
    git("config", "user.signingkey", str(ssh_keys.make("lent")))
    break_key(here, ssh_keys, "no key", tmp_path)
    assert "names no key" in begun.checkpoint("A reason.").pending


def test_only_the_user_may_switch_signing_on_or_off(begun: Guard, git: Git, here: Machine) -> None:
    (git.root / ".gitguard" / "config.yaml").write_text("sign: false\nsigners: [eve]\n")
    assert reopened(begun, here).checkpoint("A reason.").commit
    here.verify(git.root, BRANCH)
    here.config("")
    (git.root / ".gitguard" / "config.yaml").write_text("sign: true\n")
    guard = reopened(begun, here)
    assert not guard.config.sign
    assert any("`sign`" in warning for warning in guard.status().warnings)
    guard.checkpoint("A reason.")
    assert "gpgsig" not in raw(git, BRANCH)


# A head ahead of ours


def test_a_signed_head_of_another_machine_is_taken(
    begun: Guard, git: Git, elsewhere: Elsewhere, here: Machine
) -> None:
    elsewhere.work("Theirs", "Theirs again")
    head = elsewhere.hand_over()
    startup = begun.ensure()
    assert startup.state.goal == "Theirs again"
    (note,) = startup.notes
    assert "2 signed checkpoints by there@machine" in note
    assert begun.status().standing == "ours"
    assert git("rev-parse", BRANCH) == head
    assert begun.ensure().notes == ()
    begun.note({"goal": "Ours on top"})
    assert git("rev-parse", f"{BRANCH}~1") == head
    assert [c.sequence for c in begun.log(2)] == [5, 4]
    git.fsck()


@pytest.mark.parametrize("asked", ["resume", "prompt", "absent"])
def test_whoever_asks_for_the_state_gets_theirs(
    begun: Guard, elsewhere: Elsewhere, asked: str
) -> None:
    begun.handle(event_of(begun, events.PROMPT, prompt="Ours"), Abilities())
    begun.handle(event_of(begun, events.SESSION_END), Abilities())
    begun.checkpoint("Everything is in a checkpoint.")
    Git(Path(elsewhere.clone.root))("fetch", "--quiet", "origin", BRANCH)
    elsewhere.clone("update-ref", BRANCH, "FETCH_HEAD")
    elsewhere.guard.ensure()
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    if asked == "resume":
        assert "Theirs" in begun.resume()
    elif asked == "prompt":
        reply = begun.handle(event_of(begun, events.PROMPT, prompt="Go on"), Abilities())
        assert "Theirs" in reply.context
        assert "signed checkpoint" in reply.context
    else:
        subprocess.run(["rm", "-r", begun.workspace.folder], check=True)
        begun.ensure()
    assert begun.state().goal == "Theirs"


def test_gpg_signatures_let_a_head_in(
    guard: Guard, git: Git, here: Machine, there: Machine, gpg_keys: GpgKeys, tmp_path: Path
) -> None:
    fingerprint = gpg_keys.make("ada")
    for machine in (here, there):
        machine.use_gpg(gpg_keys.folder, fingerprint)
    begun = reopened(guard, here)
    begun.ensure()
    elsewhere = Elsewhere(begun, git, tmp_path, there)
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    here.config("sign: true\nsigners: [Ada]\n")
    assert "not among your `signers`" in refused(reopened(begun, here))
    here.config(f"sign: true\nsigners: [{fingerprint}]\n")
    assert reopened(begun, here).ensure().state.goal == "Theirs"


def refused(guard: Guard) -> str:
    """Return why a head is not taken, after making sure that nothing changed."""
    before = guard.state()
    saved = guard.ensure().saved
    assert saved is not None
    assert saved.way_out is not None
    assert "repair --take-theirs" in saved.way_out
    assert guard.state() == before
    assert guard.status().standing == "advanced"
    return saved.pending


def test_one_unsigned_checkpoint_between_refuses_all(
    begun: Guard, git: Git, elsewhere: Elsewhere
) -> None:
    elsewhere.work("Signed")
    elsewhere.machine.config("sign: false\n")
    elsewhere.work("Unsigned")
    elsewhere.machine.config("sign: true\n")
    elsewhere.work("Signed again")
    elsewhere.hand_over()
    said = refused(begun)
    assert "cp_004" in said
    assert "it is not signed" in said
    begun.trust(begun.store().chain.head().id)
    assert begun.state().goal == "Signed again"


def test_a_stranger_s_signature_is_refused(
    begun: Guard, elsewhere: Elsewhere, ssh_keys: SshKeys
) -> None:
    elsewhere.machine.git_config(user_signingkey=ssh_keys.make("stranger", allow=False))
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    assert "belongs to no allowed signer" in refused(begun)
    ssh_keys.allow("stranger")
    assert begun.ensure().state.goal == "Theirs"


def test_only_listed_signers_count_where_some_are_listed(
    begun: Guard, elsewhere: Elsewhere, here: Machine
) -> None:
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    here.config("sign: true\nsigners: [here@machine]\n")
    assert "there@machine signed it" in refused(reopened(begun, here))
    here.config("sign: true\nsigners: [there@machine]\n")
    assert reopened(begun, here).ensure().state.goal == "Theirs"


def test_without_sign_a_signed_head_is_refused_as_ever(
    begun: Guard, elsewhere: Elsewhere, here: Machine
) -> None:
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    here.config("sign: false\n")
    assert "not taken unasked" not in refused(reopened(begun, here))


_BY = "committer gitguard <gitguard@localhost> "
_SSH = "-----BEGIN SSH SIGNATURE-----"
TAMPERING = {
    "message": ("Trigger: phase-change", "Trigger: manual"),
    "date": (f"{_BY}1", f"{_BY}2"),
    "signed twice": ("\ngpgsig ", f"\ngpgsig {_SSH}\n x\ngpgsig "),
    "nonsense": (_SSH, "-----BEGIN NOTHING-----"),
    "cut": ("\n -----END SSH SIGNATURE-----", ""),
    "other kind": ("SSH SIGNATURE", "PGP SIGNATURE"),
}


@pytest.mark.parametrize("how", TAMPERING)
def test_a_signature_of_something_else_is_refused(
    begun: Guard, git: Git, elsewhere: Elsewhere, how: str
) -> None:
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    before = raw(git, BRANCH) + "\n"
    forged = before.replace(*TAMPERING[how])
    assert forged != before
    options = ("-t", "commit", "-w", "--literally", "--stdin")
    git("update-ref", BRANCH, git("hash-object", *options, stdin=forged))
    assert "is refused" in refused(begun)


def test_a_missing_or_repeated_number_is_refused_although_signed(
    begun: Guard, git: Git, elsewhere: Elsewhere, there: Machine
) -> None:
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    place, environment = locate(str(git.root)), there.places.environment
    writer = Repository(place, environment, begun.clock, signs=True)
    message = git("log", "-1", "--format=%B", BRANCH) + "\n"
    names = ("state.json", "summary.md", "snapshot.yaml")
    contents = {name: (git("show", f"{BRANCH}:{name}") + "\n").encode() for name in names}
    head = git("rev-parse", BRANCH)
    for number, right in (("3", "2"), ("5", "4")):
        text = message.replace("Gitguard-Sequence: 3", f"Gitguard-Sequence: {number}")
        git("update-ref", BRANCH, writer.write_commit(contents, head, text))
        assert f"checkpoint 3, where number {right} has" in refused(begun)
    text = message.replace("Sequence: 3", "Sequence: 4").replace("Session: main", "Session: other")
    git("update-ref", BRANCH, writer.write_commit(contents, head, text))
    assert "belongs to the session `other`" in refused(begun)


@pytest.mark.parametrize("how", ["revoked", "expired", "no file", "relative", "in the repository"])
def test_signatures_count_by_the_user_s_file_alone(
    begun: Guard, git: Git, elsewhere: Elsewhere, here: Machine, ssh_keys: SshKeys, how: str
) -> None:
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    allowed = ssh_keys.allowed
    if how == "revoked":
        revoked = ssh_keys.folder / "revoked"
        revoked.write_text((ssh_keys.folder / "there.pub").read_text())
        here.git_config(gpg_ssh_revocationFile=revoked)
        assert "revoked" in refused(begun)
        revoked.unlink()  # then nobody can tell, and git would only warn
        assert "revocationFile" in refused(begun)
    elif how == "expired":
        allowed.write_text("")
        ssh_keys.allow("there", 'valid-before="20200101" ')
        assert "has expired" in refused(begun)
    elif how == "no file":
        allowed.unlink()
        assert "no allowed signer" in refused(begun)
    else:
        (git.root / "signers").write_text(allowed.read_text())
        inside = "signers" if how == "relative" else git.root / "signers"
        here.git_config(gpg_ssh_allowedSignersFile=inside)
        assert "outside of the repository" in refused(begun)


def test_expired_and_unknown_gpg_keys_are_refused(
    guard: Guard, git: Git, here: Machine, gpg_keys: GpgKeys
) -> None:
    fingerprint = gpg_keys.make("ada")
    here.use_gpg(gpg_keys.folder, fingerprint)
    signed = reopened(guard, here)
    signed.ensure()
    (checkpoint,) = signed.log()

    def verdict() -> tuple[str, str]:
        found = (
            reopened(guard, here).store().signatures().verdict(checkpoint.id, checkpoint.signature)
        )
        return found.standing, found.reason

    assert verdict() == (GOOD, "")
    gpg_keys.trust(fingerprint, 3)
    standing, reason = verdict()
    assert (standing, "trusted" in reason) == (UNKNOWN, True)
    gpg_keys.trust(fingerprint, 6)
    gpg_keys.gpg("--quick-set-expire", fingerprint, "seconds=1")
    while verdict()[0] == GOOD:
        continue
    assert verdict() == (BAD, "the key that signed it has expired")
    gpg_keys.gpg("--delete-secret-and-public-key", fingerprint)
    assert verdict()[0] == UNKNOWN
    assert "keyring" in verdict()[1]


def test_nothing_of_ours_is_left_behind_for_a_signed_head(
    begun: Guard, git: Git, elsewhere: Elsewhere
) -> None:
    elsewhere.work("Theirs")
    begun.note({"learnings": ["ours, in no checkpoint"]})
    elsewhere.hand_over()
    assert "newer than its last checkpoint" in refused(begun)
    assert texts(begun.state().learnings) == ("ours, in no checkpoint",)
    begun.trust(begun.store().chain.head().id)
    assert "ours, in no checkpoint" in git("log", "--all", "-p", "--format=%H", "--", "state.json")


def test_what_a_conversation_did_here_is_not_left_behind(
    begun: Guard, elsewhere: Elsewhere
) -> None:
    elsewhere.work("Theirs")
    begun.store().journal.append(
        JournalEntry("tool-end", NOW, "host", id="t", tool="Edit", written=("a",))
    )
    elsewhere.hand_over()
    assert "since the last checkpoint is not in a checkpoint yet" in refused(begun)


def test_an_edited_state_is_not_left_behind(begun: Guard, elsewhere: Elsewhere) -> None:
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    path = session_file(begun, "state.json")
    path.write_text(path.read_text().replace("Ours", "Edited"))
    with pytest.raises(GitguardError):
        begun.ensure()
    assert begun.status().standing == "advanced"
    assert "Edited" in path.read_text()


@pytest.mark.parametrize(
    "step", ["state-copy-written", "state-written", "anchor-adopted", "summary-written"]
)
def test_a_crash_while_taking_ends_with_theirs(
    begun: Guard, git: Git, here: Machine, elsewhere: Elsewhere, step: str
) -> None:
    elsewhere.work("Theirs")
    elsewhere.hand_over()

    def crash(at: str) -> None:
        if at == step:
            raise KeyboardInterrupt

    dying = Guard(str(git.root), here.places.replace(at_step=crash), begun.clock)
    with pytest.raises(KeyboardInterrupt):
        dying.ensure()
    assert begun.ensure().state.goal == "Theirs"
    assert begun.status().standing == "ours"
    assert not begun.status().uncommitted


def test_an_unwritable_memory_takes_nothing(
    begun: Guard, elsewhere: Elsewhere, here: Machine
) -> None:
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    with read_only(Path(here.places.state_home)):
        assert "cannot be written" in refused(begun)
    assert begun.ensure().state.goal == "Theirs"


# The decision


def checkpoint(sequence: int) -> Checkpoint:
    return Checkpoint("a" * 40, "", "", "", 0, "main", sequence, "manual", None, Code(), "", "x")


def test_verdicts_are_only_asked_for_where_they_matter() -> None:
    def never() -> Iterator[SignatureVerdict]:
        yield pytest.fail("asked")

    many = tuple(checkpoint(number) for number in range(3, 4 + MOST_SIGNED))
    ahead = Ahead(Session.of("main"), 2, "", many)
    assert "at most 100 are checked" in judge(ahead, never()).doubt
    for cheap in ({"own_work": "work"}, {"session": Session.of("other")}, {"sequence": 3}):
        assert judge(ahead.replace(**cheap), never()).doubt


@given(st.text() | st.lists(st.sampled_from(
    ["[GNUPG:] GOODSIG a b", "[GNUPG:] VALIDSIG f g", "[GNUPG:] BADSIG", "[GNUPG:]", "x"
])).map("\n".join))  # fmt: skip
def test_what_git_refuses_is_never_good(said: str) -> None:
    for judge_one in (judge_ssh, judge_gpg):
        refusal = judge_one(said, holds=False)
        assert not refusal.is_good
        assert refusal.reason
    assert judge_ssh("", holds=True).standing != GOOD
    assert judge_gpg("", holds=True).standing != GOOD


def test_an_unsigned_checkpoint_says_so(begun: Guard, here: Machine) -> None:
    here.config("sign: false")
    reopened(begun, here).checkpoint("A reason.")
    check = begun.store().signatures()
    assert [check.verdict(c.id, c.signature).standing for c in begun.log()] == [
        UNSIGNED,
        GOOD,
        GOOD,
    ]


# Whole histories


def test_verify_tells_who_signed_and_what_is_from_before(
    begun: Guard, git: Git, elsewhere: Elsewhere, here: Machine
) -> None:
    elsewhere.work("Theirs")
    elsewhere.hand_over()
    begun.ensure()
    (report,) = begun.verify()
    assert report.findings == ()
    assert report.notes == ("signed: 2 by here@machine, 1 by there@machine",)
    here.config("")
    (report,) = reopened(begun, here).verify()
    assert report.notes == ()


def test_verify_forgives_unsigned_checkpoints_only_before_the_first_signed_one(
    here: Machine, guard: Guard
) -> None:
    here.config("")
    reopened(guard, here).ensure()
    reopened(guard, here).checkpoint("Not signed.")
    (report,) = guard.verify()
    assert report.notes == ("not signed, from before signing was switched on: 2",)
    assert report.findings == ()
    guard.checkpoint("Signed.")
    (report,) = guard.verify()
    assert report.findings == ()
    assert "not signed, from before signing was switched on: 2" in report.notes
    reopened(guard, here).checkpoint("Not signed again.")
    (report,) = guard.verify()
    (finding,) = report.findings
    assert (finding.checkpoint, finding.exit_code) == ("cp_004", Untrusted.exit_code)
    assert "not signed" in finding.problem


def test_verify_finds_signatures_that_do_not_count(
    begun: Guard, git: Git, here: Machine, ssh_keys: SshKeys
) -> None:
    body = raw(git, BRANCH).replace("Trigger: phase-change", "Trigger: manual") + "\n"
    git("update-ref", BRANCH, git("hash-object", "-t", "commit", "-w", "--stdin", stdin=body))
    problems = {f.checkpoint: f for f in begun.verify()[0].findings if "signature" in f.problem}
    assert problems["cp_002"].exit_code == Tampered.exit_code
    begun.archive_theirs()
    here.git_config(user_signingkey=ssh_keys.make("stranger", allow=False))
    begun.checkpoint("Signed by somebody else.")
    (finding,) = begun.verify()[0].findings
    assert (finding.checkpoint, finding.exit_code) == ("cp_003", Untrusted.exit_code)
    assert "allowed signer" in finding.problem


# The command line


def test_two_machines_share_a_session_by_command(
    git: Git, tmp_path: Path, ssh_keys: SshKeys
) -> None:
    origin = tmp_path / "origin.git"
    roots: dict[str, Path] = {}
    git("clone", "--quiet", "--bare", ".", str(origin))
    machines = {name: Machine(tmp_path / name) for name in ("desk", "laptop")}

    def gitguard(name: str, *words: str) -> dict[str, object]:
        machine = machines[name]
        environment = {
            **machine.places.environment,
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "GITGUARD_STATE_DIR": machine.places.state_home,
            "XDG_CONFIG_HOME": str(machine.home / "xdg"),
        }
        done = subprocess.run(
            ["gitguard", "--json", *words], cwd=roots[name], env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return dict(json.loads(done.stdout))

    for name, machine in machines.items():
        machine.use_ssh(ssh_keys.make(name), ssh_keys.allowed)
        (machine.home / "xdg").mkdir()
        (machine.home / "config").rename(machine.home / "xdg" / "gitguard")
        roots[name] = tmp_path / f"{name}-repo"
        git("clone", "--quiet", str(origin), str(roots[name]))
    desk, laptop = (Git(roots[name]) for name in machines)
    gitguard("desk", "note", "--goal", "From the desk")
    gitguard("desk", "ensure")
    gitguard("desk", "note", "--goal", "From the desk")
    desk("push", "--quiet", "origin", BRANCH)
    laptop("fetch", "--quiet", "origin", f"{BRANCH}:{BRANCH}")
    gitguard("laptop", "repair", "--trust", "--yes")
    gitguard("laptop", "note", "--goal", "From the laptop")
    laptop("push", "--quiet", "origin", BRANCH)
    desk("fetch", "--quiet", "origin", f"{BRANCH}:{BRANCH}")
    said = gitguard("desk", "ensure")
    assert "signed checkpoint by laptop@machine" in str(said["notes"])
    assert "From the laptop" in desk("show", f"{BRANCH}:state.json")
    assert "1 by laptop@machine" in str(gitguard("desk", "verify"))
