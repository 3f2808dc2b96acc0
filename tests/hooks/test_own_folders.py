"""Only the user changes gitguard's configuration and state; an agent's tools may read there."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.hooks.answering import first_refusal
from gitguard.hooks.own_folders import changed_folder
from gitguard.hosts import find_host
from gitguard.model import events
from gitguard.model.events import Abilities, HookEvent, ToolCall
from gitguard.store.session.workspace import UserDirs
from tests.support.hostile import PAYLOADS

HOME, REPO = "/home/ada", "/home/ada/work/repo"
PLACES = UserDirs(
    state_home=f"{HOME}/.local/state/gitguard",
    config_home=f"{HOME}/.config/gitguard",
    environment={"PATH": "/usr/bin", "HOME": HOME, "TMPDIR": "/tmp"},
    home=HOME,
)
CONFIG = "~/.config/gitguard/config.yaml"
MANY = 20_000


def changed(command: str, folder: str = REPO, places: UserDirs = PLACES) -> str:
    tool = ToolCall("Bash", command=command, is_shell=True)
    event = HookEvent(events.TOOL_START, "S1", REPO, folder=folder, tool=tool)
    return changed_folder(event, places)


def written(path: str, folder: str = REPO, places: UserDirs = PLACES) -> str:
    tool = ToolCall("Write", paths_written=(path,))
    return changed_folder(
        HookEvent(events.TOOL_START, "S1", REPO, folder=folder, tool=tool), places
    )


WRITING = (
    "echo 'thresholds: {critical: 0.99}' > ~/.config/gitguard/config.yaml",
    "echo x >> $HOME/.config/gitguard/config.yaml",
    'echo x >| "${HOME}/.config/gitguard/config.yaml"',
    "echo x &> /home/ada/.config/gitguard/config.yaml",
    "echo x > ../../.config/gitguard/config.yaml",
    "echo x > ~ada/.config/gitguard/config.yaml",
    "echo x > $XDG_CONFIG_HOME/gitguard/config.yaml",
    "rm -rf $GITGUARD_STATE_DIR",
    "cd ~/.config/gitguard && echo x > config.yaml",
    "cd; echo x > .config/gitguard/config.yaml",
    "cd ~/.config; cd gitguard; sed -i s/a/b/ config.yaml",
    "pushd $HOME/.config/gitguard; touch config.yaml",
    "(cd ~/.config/gitguard && rm config.yaml)",
    "cat <<EOF > ~/.config/gitguard/config.yaml\nthresholds: {critical: 0.99}\nEOF",
    "cat > ~/.config/gitguard/config.yaml <<EOF\nx\nEOF",
    "echo x | tee ~/.config/gitguard/config.yaml",
    "echo x | sudo tee -a ~/.config/gitguard/config.yaml > /dev/null",
    "sed -i 's/0.85/0.99/' ~/.config/gitguard/config.yaml",
    "sed -i.bak -e s/a/b/ ~/.config/gitguard/config.yaml",
    "perl -pi -e 's/a/b/' ~/.config/gitguard/config.yaml",
    "yq -i '.a = 1' ~/.config/gitguard/config.yaml",
    "cp /tmp/x ~/.config/gitguard/config.yaml",
    "cp /tmp/config.yaml ~/.config/gitguard",
    "cp -r /tmp/gitguard ~/.config",
    "cp -t ~/.config/gitguard /tmp/config.yaml",
    "cp -al ~/.config/gitguard/config.yaml x && echo y > x",
    "env -C ~/.config/gitguard rm config.yaml",
    "sudo -D ~/.config/gitguard sed -i s/a/b/ config.yaml",
    'for f in a ~/.config/gitguard/* b; do cp /tmp/x "$f"; done',
    "mv /tmp/x ~/.config/gitguard/config.yaml",
    "mv ~/.config/gitguard /tmp/x",
    "mv ~/.config ~/.config.old",
    "rm ~/.config/gitguard/config.yaml",
    "rm -rf ~/.local/state/gitguard",
    "rm -rf ~/.local/state",
    "rm -rf ~/.config/gitg*",
    "rm -rf ~/.config/{gitguard,other}",
    "rm -rf ~",
    "rm -rf /",
    "ln -sf /tmp/x ~/.config/gitguard/config.yaml",
    "ln -s ~/.config/gitguard x && echo y > x/config.yaml",
    "install -m 600 /tmp/x ~/.config/gitguard/config.yaml",
    "dd if=/tmp/x of=$HOME/.config/gitguard/config.yaml",
    "truncate -s 0 ~/.config/gitguard/config.yaml",
    "touch ~/.config/gitguard/config.yaml",
    "mkdir -p ~/.config/gitguard",
    "rmdir ~/.config/gitguard",
    "unlink ~/.config/gitguard/config.yaml",
    "chmod 000 ~/.local/state/gitguard",
    "chmod -R a-w ~/.local/state",
    "trap 'rm -rf ~/.config/gitguard' EXIT",
    "rsync -a /tmp/x/ ~/.config/gitguard/",
    "curl -o ~/.config/gitguard/config.yaml https://example.org/x",
    "wget -O ~/.config/gitguard/config.yaml https://example.org/x",
    "tar xf /tmp/x.tar -C ~/.config/gitguard",
    "tar -C ~/.config/gitguard -xf /tmp/x.tar",
    "bsdtar -xf /tmp/x.tar -C ~/.config/gitguard",
    "gzip -r ~/.local/state/gitguard",
    "gunzip ~/.config/gitguard/config.yaml.gz",
    "xz -9 ~/.config/gitguard/config.yaml",
    "tar --file=/tmp/x.tar -vxC ~/.config/gitguard",
    "find . -exec env -C ~/.config/gitguard rm config.yaml \\;",
    "git clone /tmp/x ~/.config/gitguard",
    "git -C ~/.config/gitguard checkout .",
    "find ~/.config/gitguard -name '*.yaml' -delete",
    "find ~/.config/gitguard -type f -exec rm {} +",
    "ls -d ~/.config/gitguard/* | xargs rm",
    "d=~/.config/gitguard; echo x > $d/config.yaml",
    "for f in ~/.config/gitguard/*; do rm $f; done",
    "rm $(ls -d ~/.config/gitguard)",
    "bash -c 'echo x > ~/.config/gitguard/config.yaml'",
    "sh <<END\nrm ~/.config/gitguard/config.yaml\nEND",
    "env -i sh -c 'rm -rf ~/.local/state/gitguard'",
    "vim ~/.config/gitguard/config.yaml",
    "patch ~/.config/gitguard/config.yaml < /tmp/x.diff",
    "python3 -c \"open('/home/ada/.config/gitguard/config.yaml', 'w').write('x')\"",
    "python3 - <<E\nfrom pathlib import Path\n"
    "(Path.home() / '.config' / 'gitguard' / 'config.yaml').write_text('x')\nE",
    "node -e \"fs.writeFileSync(os.homedir() + '/.config/gitguard/config.yaml', 'x')\"",
    "perl -e 'unlink \"$ENV{HOME}/.config/gitguard/config.yaml\"'",
)


@pytest.mark.parametrize("command", WRITING)
def test_a_shell_line_that_writes_moves_or_deletes_there_is_refused(command: str) -> None:
    assert changed(command)


INNOCENT = (
    "cat ~/.config/gitguard/config.yaml",
    "cat ~/.config/gitguard/config.yaml > /tmp/copy.yaml",
    "cat ~/.config/gitguard/config.yaml > $TMPDIR/copy.yaml",
    "cp ~/.config/gitguard/config.yaml backup.yaml",
    "cp ~/.config/gitguard/config.yaml $(mktemp)",
    "grep -rn critical ~/.config/gitguard",
    "grep -i critical ~/.config/gitguard/config.yaml | tee found.txt",
    "ls -la ~/.local/state/gitguard; du -sh ~/.local/state/gitguard",
    "find ~/.local/state/gitguard -name '*.json' | head",
    "find ~/.local/state/gitguard -name '*.json' -exec cat {} +",
    "sed -n 1,5p ~/.config/gitguard/config.yaml",
    "cd ~/.config/gitguard && cat config.yaml",
    "diff ~/.config/gitguard/config.yaml config.yaml > difference.txt",
    "tar czf /tmp/backup.tgz ~/.config/gitguard",
    "tar -C ~/.config -czf /tmp/backup.tgz gitguard",
    "gzip -9c ~/.config/gitguard/config.yaml > /tmp/config.yaml.gz",
    "python3 -c \"print(open('/home/ada/.config/gitguard/config.yaml').read())\"",
    "python3 -c \"open('notes.txt', 'w').write('x')\"",
    "python3 -c \"config_home = '/tmp'; open('notes.txt', 'w').write(config_home)\"",
    "echo 'write to ~/.config/gitguard/config.yaml' >> README.md",
    "git commit -m 'Say that > ~/.config/gitguard/config.yaml is refused'",
    "git add -A && git commit -q -F - <<E\nrm -rf ~/.config/gitguard\nE",
    "grep -rn 'rm -rf ~/.config/gitguard' docs > hits.txt",
    "cat <<E > docs/security.md\nNever `rm -rf ~/.config/gitguard`.\nE".replace("`", "'"),
    "mkdir -p ~/.config/other && echo x > ~/.config/other/config.yaml",
    "cp x.desktop ~/.config/",
    "mv notes.txt ~/.config/",
    "rm -rf ~/.config/other ~/.local/state/other",
    "rm -rf ~/.config/gitguard-old",
    "rm -rf build *.pyc",
    "chmod 700 ~ ~/.config",
    "cp -l a b",
    "env -C build rm config.yaml",
    "for f in ~/.config/gitguard/*; do cp $f backup/; done",
    "for f in *.py; do sed -i s/a/b/ $f; done",
    "chmod -R u+w build",
    "touch .config/gitguard/config.yaml",
    "sed -i 's#~/.config/gitguard#elsewhere#' README.md",
    "echo x > config.yaml",
    "rm $f",
)


@pytest.mark.parametrize("command", INNOCENT)
def test_reading_there_and_writing_elsewhere_is_never_refused(command: str) -> None:
    assert changed(command) == ""


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        (f"{HOME}/.config/gitguard/config.yaml", REPO),
        (CONFIG, REPO),
        ("../../.config/gitguard/config.yaml", REPO),
        (f"{REPO}/../../.config/gitguard/config.yaml", REPO),
        (f"{REPO}/~/.config/gitguard/config.yaml", REPO),
        ("config.yaml", f"{HOME}/.config/gitguard"),
        (f"{HOME}/.local/state/gitguard/hosts/x.json", REPO),
    ],
)
def test_a_tool_that_writes_a_file_there_is_refused(path: str, folder: str) -> None:
    assert written(path, folder)


def test_a_tool_that_writes_elsewhere_is_not_refused() -> None:
    for path in ("config.yaml", f"{HOME}/.config/other/config.yaml", f"{REPO}/.gitguard/x"):
        assert written(path) == ""


def test_the_shells_own_folder_counts() -> None:
    assert changed("echo x > config.yaml", folder=f"{HOME}/.config/gitguard")


def test_links_on_the_way_are_followed(tmp_path: Path) -> None:
    config = tmp_path / "settings" / "gitguard"
    config.mkdir(parents=True)
    (tmp_path / "linked").symlink_to(config)
    (tmp_path / "config").symlink_to(tmp_path / "settings")
    places = PLACES.replace(config_home=str(tmp_path / "config" / "gitguard"))
    for path in ("linked/config.yaml", "settings/gitguard/x", "config/gitguard/config.yaml"):
        assert written(str(tmp_path / path), places=places)
        assert changed(f"echo x > {tmp_path / path}", places=places)
    assert changed(f"rm {tmp_path / 'linked'}", places=places) == "", "only the link goes"


def test_the_folders_that_the_environment_names_and_the_usual_ones_both_count() -> None:
    places = PLACES.replace(state_home="/srv/state", config_home="/srv/config/gitguard")
    for folder in ("/srv/state", "/srv/config/gitguard", "~/.config/gitguard"):
        assert changed(f"rm -rf {folder}", places=places)


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit", "NotebookEdit"])
def test_every_writing_tool_of_claude_code_is_refused_there(tool: str) -> None:
    host = find_host("claude-code")
    document = json.loads((PAYLOADS / "claude_code" / "PreToolUse.Bash.json").read_text())
    name = "notebook_path" if tool == "NotebookEdit" else "file_path"
    document |= {"tool_name": tool, "tool_input": {name: CONFIG}, "cwd": REPO}
    event = host.parse_event(document, {}, 1.0)
    reply = first_refusal(event, host.abilities, PLACES, 1.0)
    assert reply is not None
    assert "only the user changes `/home/ada/.config/gitguard`" in reply.refuse


@pytest.mark.parametrize(
    "parameters",
    [
        ("write", {"path": CONFIG}),
        ("write", {"path": "x", "file_path": CONFIG}),
        ("edit", {"filePath": "../../.config/gitguard/config.yaml"}),
        ("apply_patch", {"input": f"*** Begin Patch\n*** Update File: {CONFIG}\n*** End Patch"}),
        ("exec", {"command": "rm config.yaml", "workdir": f"{HOME}/.config/gitguard"}),
    ],
)
def test_every_writing_tool_of_openclaw_is_refused_there(
    parameters: tuple[str, dict[str, str]],
) -> None:
    host = find_host("openclaw")
    name, values = parameters
    context = {"sessionKey": "main", "workspaceDir": REPO}
    document = {
        "hook": "before_tool_call",
        "event": {"toolName": name, "params": values},
        "ctx": context,
    }
    event = host.parse_event(document, {"HOME": HOME}, 1.0)
    assert first_refusal(event, host.abilities, PLACES, 1.0) is not None


def test_a_sub_agents_call_is_refused_there_too() -> None:
    tool = ToolCall("Bash", command="rm -rf ~/.config/gitguard", is_shell=True)
    event = HookEvent(events.TOOL_START, "S1", REPO, tool=tool, sub_agent="helper")
    assert first_refusal(event, Abilities(), PLACES, 1.0) is not None


@given(st.text(alphabet=" ~/.$'\"\\{}()|;&<>*?[]\n`-=abcdgiturf", max_size=80))
def test_no_line_breaks_the_reading(text: str) -> None:
    for command in (text, f"rm {text}", f"{text} > x", f"sh -c '{text}'", f"python3 -c '{text}'"):
        assert changed(command) in ("", PLACES.config_home, PLACES.state_home)


@given(st.sampled_from(WRITING), st.sampled_from(["true; {}", "{} || true", "( {} )", "{}\n"]))
def test_what_stands_beside_a_line_hides_nothing(command: str, around: str) -> None:
    if "<<" not in command:
        assert changed(around.replace("{}", command))


def test_a_line_of_many_folders_and_files_is_read_at_once() -> None:
    many = "; ".join(f"cd d{n}; rm f{n}" for n in range(2_000))
    assert changed(many) == ""
    assert changed(f"{many}; echo x > ~/.config/gitguard/config.yaml")
    assert changed("rm " + " ".join(f"f{n}" for n in range(20_000))) == ""


@pytest.mark.parametrize(
    "line",
    [
        "a|" * MANY,
        "git commit|" * MANY,
        "gitguard x " * MANY,
        "xargs gitguard x " * MANY,
        "find . " + "-exec rm a \\; " * MANY,
        "find . " + "-exec python3 -c 'import gitguard' \\; " * MANY,
        "bash <<E\nfind . " + "-exec bash \\; " * 1_500 + "<<F\n" + "rm a;" * 5_000 + "\nF\nE",
        "find . " + "-exec python3 \\; " * 1_500 + "<<E\n" + "write gitguard " * 2_000 + "\nE",
    ],
)
def test_no_line_keeps_a_refusal_waiting(line: str) -> None:
    begun = time.process_time()
    refused(f"{line[:60_000]}\ngitguard override --reason x")
    changed(line[:60_000])
    assert time.process_time() - begun < 5


def test_many_scripts_keep_no_refusal_waiting(tmp_path: Path) -> None:
    names = [f"{number}.py" for number in range(2_000)]
    script = "import gitguard\n" + "accept " * 30_000
    (tmp_path / names[0]).write_text(script)
    for name in names[1:]:
        os.link(tmp_path / names[0], tmp_path / name)
    begun = time.process_time()
    refused("; ".join(f"python3 {name}" for name in names * 2), str(tmp_path))
    assert time.process_time() - begun < 5


# Code that reaches the library


def refused(command: str, folder: str = REPO) -> str:
    tool = ToolCall("Bash", command=command, is_shell=True)
    event = HookEvent(events.TOOL_START, "S1", folder, folder=folder, tool=tool)
    reply = first_refusal(event, Abilities(), PLACES, 1.0)
    return reply.refuse if reply else ""


CODE = (
    "from gitguard import Guard; Guard.open('.').override('S1', 'go on')",
    "import gitguard; gitguard.Guard.open('.').files.restore(plan, force=True)",
    "from gitguard import Guard; Guard.open('.').files.restore(plan, force = True)",
    "from gitguard import Guard; g = Guard.open('.'); g.secrets.purge(2, 'x')",
    "from gitguard import Guard; Guard.open('.').trust()",
    "from gitguard import Guard; Guard.open('.').accept()",
    "from gitguard import Guard; Guard.open('.').uninstall('claude-code')",
    "from gitguard import Guard; Guard.open('.').sessions.close()",
    "from gitguard import Guard; getattr(Guard.open('.'), 'override')('S1', 'x')",
    "from gitguard.hooks.gate_question import override as o; o(store, 'S1', 'x')",
    "from gitguard.cli.app import main; main(['uninstall'])",
    "from gitguard import Guard; Guard.open('.').handle(event, abilities)",
    "from gitguard.cli.hook import answer; answer(['claude-code'], b'')",
    "from gitguard.cli import hook as h; h.run(['claude-code'])",
    "from gitguard.__main__ import main; main()",
)
RUNNING = (
    'python3 -c "{}"',
    "python3 <<'E'\n{}\nE",
    'uv run python -c "{}"',
    "sh -c 'cd x; python3 -' <<E\n{}\nE",
    'echo "{}" | python3 -',
    "cat > x.py <<'E'\n{}\nE\npython3 x.py",
    'echo "{}" > x.py; python3 x.py',
    'sudo -u ada env X=1 python3.12 -c "{}"',
)


@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("running", RUNNING)
def test_code_that_reaches_an_owners_method_of_the_library_is_refused(
    code: str, running: str
) -> None:
    assert refused(running.format(code))


@pytest.mark.parametrize("code", CODE)
def test_a_file_that_was_written_before_is_read_when_it_is_run(code: str, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(code)
    (tmp_path / "run.py").write_text(code)
    (tmp_path / "run.py").chmod(0o755)
    for command in ("python3 x.py", f"python3 -u {tmp_path}/x.py --now", "./run.py"):
        assert refused(command, str(tmp_path))
    assert refused("cat x.py", str(tmp_path)) == ""
    assert refused("python3 -m pytest -q x.py", str(tmp_path)) == ""
    os.mkfifo(tmp_path / "pipe.py")
    assert refused("python3 pipe.py", str(tmp_path)) == ""


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c \"from gitguard import Guard; print(Guard.open('.').state().goal)\"",
        "python3 -c \"from gitguard import Guard; Guard.open('.').note({'goal': 'override it'})\"",
        "python3 -c \"print('trust(', 'override(')\"",
        "grep -rn 'Guard.open(.).override(' --include=*.py .",
        "git commit -m \"from gitguard import Guard; Guard.open('.').override()\"",
        "git log -S 'from gitguard import Guard; g.purge(' -- x.py",
        "cat > docs.md <<'E'\nfrom gitguard import Guard; Guard.open('.').override()\nE",
        "python3 -m pytest tests/hooks -k 'override or purge'",
        "pip install gitguard && python3 -c 'import gitguard; print(gitguard)'",
        "python3 setup.py --uninstall",
    ],
)
def test_who_only_writes_of_such_methods_is_not_refused(command: str) -> None:
    assert refused(command) == ""


@pytest.mark.parametrize("command", ["gitguard uninstall", "gitguard uninstall --host openclaw -y"])
def test_an_agent_may_not_uninstall(command: str) -> None:
    assert "gitguard uninstall` is for a human" in refused(command)
