"""Which shell commands a checkpoint is saved before, and which not."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.hooks import shell_commands
from gitguard.model.shell.destructive import destructive_reason
from gitguard.model.shell.programs import LONGEST

GIT = {
    "git reset --hard": "git reset --hard",
    "git reset -q --hard HEAD~2": "git reset --hard",
    "git reset --merge": "git reset --merge",
    "git reset --keep main": "git reset --keep",
    "git -C sub reset --hard": "git reset --hard",
    "git -c core.pager=cat --no-pager reset --hard": "git reset --hard",
    "git --git-dir .git --work-tree=. reset --hard": "git reset --hard",
    "/usr/bin/git reset --hard": "git reset --hard",
    r"\git reset --hard": "git reset --hard",
    "'git' \"reset\" --ha'rd'": "git reset --hard",
    "git reset \\\n  --hard": "git reset --hard",
    "git clean -fdx": "git clean -f",
    "git clean -d --force": "git clean --force",
    "git checkout -- src/a.py": "git checkout",
    "git checkout HEAD~1 -- src": "git checkout",
    "git checkout main src/a.py": "git checkout",
    "git checkout .": "git checkout",
    "git checkout ./src": "git checkout",
    "git checkout '*.py'": "git checkout",
    "git checkout a.py": "git checkout",
    "git checkout -f main": "git checkout -f",
    "git checkout -B main origin/main": "git checkout -B",
    "git switch -f main": "git switch -f",
    "git switch --discard-changes main": "git switch --discard-changes",
    "git restore .": "git restore",
    "git restore --source HEAD~1 a.py": "git restore",
    "git restore --staged --worktree a.py": "git restore --worktree",
    "git restore -SW a.py": "git restore -W",
    "git stash drop": "git stash drop",
    "git stash clear": "git stash clear",
    "git stash pop stash@{1}": "git stash pop",
    "git stash -u": "git stash -u",
    "git stash --include-untracked": "git stash --include-untracked",
    "git stash push -a -m drop": "git stash -a",
    "git -C sub stash save --all": "git stash --all",
    "git apply -R fix.patch": "git apply -R",
    "git checkout-index -fa": "git checkout-index -f",
    "git read-tree -u --reset HEAD": "git read-tree -u",
    "git branch -D old": "git branch -D",
    "git branch -d --force old": "git branch --force",
    "git branch -df old": "git branch -f",
    "git push --force": "git push --force",
    "git push -f origin main": "git push -f",
    "git push -uf origin main": "git push -f",
    "git push --force-with-lease=main origin main": "git push --force-with-lease",
    "git push origin +main": "git push",
    "git push origin :old": "git push",
    "git push origin --delete old": "git push --delete",
    "git push --mirror backup": "git push --mirror",
    "git rm a.py": "git rm",
    "git mv -f a.py b.py": "git mv -f",
    "git rebase main": "git rebase",
    "git rebase --abort": "git rebase",
    "git pull --rebase": "git pull --rebase",
    "git merge --abort": "git merge --abort",
    "git filter-branch --all": "git filter-branch",
    "git filter-repo --path a": "git filter-repo",
    "git worktree remove ../other": "git worktree remove",
}
FILES = {
    "rm -rf build": "rm -r",
    "rm -R build": "rm -R",
    "rm --recursive build": "rm --recursive",
    "rm a.py": "rm",
    "rm -f a.py": "rm",
    "rm a.py b.py": "rm",
    "rm *.py": "rm",
    "rm -- -a": "rm",
    'rm "$file"': "rm",
    "rm -rf /tmp/build": "rm -r",
    "rm /tmp/*.log": "rm",
    "rm /tmp/a /tmp/b": "rm",
    "rm /tmp/../home/a": "rm",
    "rm !(a.py)": "rm",
    'rm -rf "never closed': "rm -r",
    "mv a.py b.py": "mv",
    "mv -f /tmp/a.py b.py": "mv",
    "cp -f a.py b.py": "cp -f",
    "cp -rf a b": "cp -f",
    "cp /dev/null a.log": "cp",
    "install /dev/null a.log": "install",
    "ln -sf a b": "ln -f",
    "cat /dev/null > a.log": "> FILE",
    "patch -R < fix.patch": "patch -R",
    "patch -Rp1 -i fix.patch": "patch -R",
    "patch -p1 --reverse": "patch --reverse",
    "ls | sponge a.py": "sponge",
    "npx rimraf dist": "rimraf",
    "ls > files.txt": "> FILE",
    "ls>files.txt": "> FILE",
    "ls 1> files.txt": "> FILE",
    "ls 2> errors.txt": "> FILE",
    "ls &> all.txt": "> FILE",
    "ls >& all.txt": "> FILE",
    "ls >| files.txt": "> FILE",
    "> files.txt": "> FILE",
    ": > files.txt": "> FILE",
    "(ls; pwd) > files.txt": "> FILE",
    "{ ls; } > files.txt": "> FILE",
    "ls > /tmp/../work/a": "> FILE",
    "ls > /dev/sda": "> FILE",
    "ls 2>&1 > files.txt": "> FILE",
    "cat > a.py <<'EOF'\nx = 1\nEOF": "> FILE",
    "cat <<EOF > a.py\nx = 1\nEOF": "> FILE",
    "ls | tee files.txt": "tee",
    "ls | sudo tee /etc/hosts": "tee",
    "truncate -s 0 a.log": "truncate",
    "dd if=/dev/zero of=a.img bs=1M": "dd",
    "shred -u a.key": "shred",
    "unlink a.py": "unlink",
    "mkfs.ext4 /dev/sdb1": "mkfs",
    "rsync -a --delete a/ b/": "rsync --delete",
    "rsync -a --delete-after a/ b/": "rsync --delete",
    "find . -name '*.pyc' -delete": "find -delete",
    "find . -name '*.pyc' -exec rm {} +": "rm",
    r"find . -type f -exec sed -i s/a/b/ {} \;": "sed -i",
    "find . -execdir sh -c 'rm \"$1\"' _ {} ';'": "rm",
    "fd -e pyc -x rm": "rm",
    "sed -i s/a/b/ *.py": "sed -i",
    "sed -i s/a/b/ a.py b.py": "sed -i",
    "sed -i '' s/a/b/ a.py b.py": "sed -i",
    "sed -i.bak -e s/a/b/ a.py b.py": "sed -i",
    "sed -Ei s/a/b/ $(git ls-files)": "sed -i",
    "sed --in-place=.bak s/a/b/ *.py": "sed --in-place",
    "gsed -i s/a/b/ src/*.c": "gsed -i",
    "perl -pi -e s/a/b/ *.py": "perl -i",
    "perl -i.bak -pe s/a/b/ a.py b.py": "perl -i",
    'for f in *.py; do sed -i s/a/b/ "$f"; done': "sed -i",
    "git ls-files | xargs sed -i s/a/b/": "sed -i",
}
FORMATTERS = {
    "prettier --write .": "prettier --write",
    "npx --yes prettier@3 --write 'src/**/*.ts'": "prettier --write",
    "prettier --write a.ts b.ts": "prettier --write",
    "black .": "black",
    "black -l 100 src": "black",
    "python -m black .": "black",
    ".venv/bin/ruff format": "ruff format",
    "uv run ruff format .": "ruff format",
    "ruff check --fix": "ruff check --fix",
    "ruff check . --fix --select I": "ruff check --fix",
    "gofmt -w .": "gofmt -w",
    "gofmt -s -w a.go b.go": "gofmt -w",
    "go fmt ./...": "go fmt",
    "cargo fmt": "cargo fmt",
    "cargo +nightly fmt --all": "cargo fmt",
    "eslint --fix src": "eslint --fix",
    "eslint --ext .ts --fix": "eslint --fix",
    "rustfmt src/main.rs": "rustfmt",
    "clang-format -i a.cc b.cc": "clang-format -i",
    "isort .": "isort",
    "poetry run isort --profile black src tests": "isort",
    "autopep8 -i -r .": "autopep8 -i",
    "git ls-files '*.py' | xargs black": "black",
}
CODE = {
    "python -c 'import shutil; shutil.rmtree(\"build\")'": "python rmtree",
    "python3 -c \"import os; os.remove('a')\"": "python3 os.remove",
    "uv run python - <<E\nfrom pathlib import Path\nPath('a').unlink()\nE": "python unlink",
    "echo 'import os; os.unlink(\"a\")' | python3.12": "python3.12 unlink",
    "node -e \"fs.rmSync('build', {recursive: true})\"": "node rmSync",
    'node --eval=\'require("fs").unlinkSync("a")\'': "node unlink",
    "node -e \"require('fs').rm('a', () => {})\"": "node rm",
    "lua -e 'os.remove(1)'": "lua os.remove",
    'python -c \'import os; os.rename("a", "b")\'': "python os.rename",
    "perl -e 'unlink glob \"*.log\"'": "perl unlink",
    "ruby -rfileutils -e 'FileUtils.rm_rf(\"build\")'": "ruby rm_rf",
    "php -r 'unlink(\"a\");'": "php unlink",
    "deno eval 'Deno.removeSync(\"a\")'": "deno Deno.remove",
    "python -c \"import subprocess; subprocess.run(['rm', 'a'])\"": "python rm",
    "ls | awk '{system(\"rm \" $1)}'": "awk rm",
    "bash -c \"python -c 'import os; os.rmdir(1); os.removedirs(2)'\"": "python removedirs",
}
WRAPPED = {
    "cd a && rm b": "rm",
    "cd a || rm b": "rm",
    "ls; rm b": "rm",
    "ls | rm b": "rm",
    "ls & rm b": "rm",
    "ls\nrm b": "rm",
    "(rm b)": "rm",
    "{ rm b; }": "rm",
    "! rm b": "rm",
    "if rm b; then ls; fi": "rm",
    "while true; do rm b; done": "rm",
    "case $a in x) rm b;; esac": "rm",
    "a=$(case $b in x) ls;; y) rm b;; esac) && ls": "rm",
    "([[ a > b ]]) && rm b": "rm",
    "clean() { rm b; }": "rm",
    "echo $(rm b)": "rm",
    'echo "a $(rm b) c"': "rm",
    "echo `rm b`": "rm",
    "echo `ls \\`rm b\\``": "rm",
    "function f { rm b; }": "rm",
    "(echo 'rm b') | sh": "rm",
    "python -mblack .": "black",
    "echo ${a:-$(rm b)}": "rm",
    "a=$(rm b)": "rm",
    "a=(x $(rm b))": "rm",
    "diff <(rm b) c": "rm",
    "cat <<EOF\n$(rm b)\nEOF": "rm",
    "cat <<EOF\nit's\nEOF\nrm b": "rm",
    "[[ -f b ]] && rm b": "rm",
    "echo $((1 > 2)); rm b": "rm",
    "echo a # b\nrm b": "rm",
    "bash -c 'rm b'": "rm",
    "sh -ec 'ls; rm b'": "rm",
    "bash -o pipefail -lc 'rm b'": "rm",
    "bash -c \"sh -c 'rm b'\"": "rm",
    "bash <<'EOF'\nrm b\nEOF": "rm",
    "bash <<< 'rm b'": "rm",
    "echo 'rm b' | sh": "rm",
    "eval 'rm b'": "rm",
    "su - joe -c 'rm b'": "rm",
    "ssh -p 22 host 'rm b'": "rm",
    "docker exec -it app rm b": "rm",
    "kubectl -n web exec deploy/a -- rm b": "rm",
    "env A=b rm b": "rm",
    "env -i -u A B=c rm b": "rm",
    "A=b C=d rm b": "rm",
    "sudo rm b": "rm",
    "sudo -u joe A=b rm b": "rm",
    "timeout -k 5 10s rm b": "rm",
    "nice -n 5 rm b": "rm",
    "command rm b": "rm",
    "nohup time rm b": "rm",
    "ls | xargs rm": "rm",
    "ls | xargs -0 -n 1 rm -f": "rm",
    "ls | xargs -I {} sh -c 'rm {}'": "rm",
    "ls | parallel 'rm {}'": "rm",
}
ELSEWHERE = {
    "docker system prune -af": "docker system prune",
    "kubectl -n web delete pod a": "kubectl delete",
    "terraform -chdir=a destroy": "terraform destroy",
    'psql -c "DROP  TABLE users"': "drop table",
    "mysql <<EOF\nDelete From users;\nEOF": "delete from",
    "echo 'truncate table a' | psql": "truncate table",
}
DESTRUCTIVE = GIT | FILES | FORMATTERS | CODE | WRAPPED | ELSEWHERE

CALM_GIT = """\
git status
git reset
git reset --soft HEAD~1
git reset HEAD a.py
git clean -n
git clean -fdn
git clean --force --dry-run
git checkout main
git checkout -
git checkout -b feature/a
git checkout -b fix origin/main
git checkout v1.2.3
git switch main
git switch -c new
git restore --staged a.py
git restore -S .
git stash
git stash list
git stash push -m drop
git stash show -u
git stash -k
git apply fix.patch
git apply -R --check fix.patch
git stash apply
git branch -d merged
git branch --list
git branch -u origin/D
git push
git push -u origin main
git push origin main:main
git push --force --dry-run
git rm --cached a.py
git rm -rn a
git mv a.py b.py
git rebase --help
git pull --rebase=false
git merge main
git commit -m 'git reset --hard'
git commit -am "rm -rf build && git push --force"
git log --grep=rebase -- rm
git -C rebase log
git worktree add ../rm
git tag v1
git show HEAD:rm > /dev/null""".splitlines()
CALM_FILES = """\
ls -la
rm /tmp/a.txt
rm -f /tmp/a/b.log
rm -f "$TMPDIR/a"
rm "${TMPDIR:-/tmp}/a"
rm --help
rm
rmdir a
mv a.py src/
mv a.py .
mv -n a.py b.py
mv -t src a.py b.py
mv /tmp/a /tmp/b
cp a.py b.py
cp -r a b
cp -f a.py src/
cp a.py /dev/null
ln -s a b
patch -p1
patch -R --dry-run
ls >> files.txt
ls > /dev/null
ls >/dev/null 2>&1
ls &>/dev/null
ls 2> /dev/stderr
ls >&2
ls 2>&-
ls > /tmp/files.txt
ls &>> all.txt
ls | tee -a files.txt
ls | tee /dev/stderr
ls | tee >(wc -l)
ls > >(wc -l)
cat < a.py
wc -l <<< '> a'
truncate -s 0 /tmp/a.log
dd if=a.img of=/dev/null
rsync -a a/ b/
rsync -an --delete a/ b/
find . -name '*.py' -print
find . -name '*.py' -exec grep -l rm {} +
sed s/a/b/ *.py
sed -n '1,5p' a.py b.py
sed -i s/a/b/ a.py
sed -i '' s/a/b/ a.py
sed -i -e s/a/b/ -e 's/c$/d/' a.py
perl -pi -e s/a/b/ a.py
perl -ne print *.py
git ls-files | xargs sed -n s/a/b/p""".splitlines()
CALM_FORMATTERS = """\
prettier --check .
prettier --write a.ts
black --check .
black --diff src
black a.py
black -l 100 a.py
cat a.py | black -
ruff check .
ruff format --check .
ruff format --diff
ruff format a.py
ruff check --fix a.py
gofmt -l .
gofmt -w a.go
go vet ./...
go test ./...
cargo fmt --check
cargo fmt --all -- --check
cargo test
eslint src
eslint --fix-dry-run src
rustfmt --check src/main.rs
clang-format -style=file a.cc b.cc
isort --check-only .
autopep8 --diff -r .
python -m pytest tests""".splitlines()
CALM_TEXT = [
    "",
    "   ",
    "echo 'rm -rf build'",
    'echo "git reset --hard; rm a"',
    "echo rm -rf build",
    'printf "%s > %s" a b',
    "grep -rn 'rm -rf' .",
    'rg "git push --force|rm a" src',
    "echo a \\> b",
    "echo a # ; rm b",
    "echo it\\'s '; rm b'",
    "which rm",
    "command -v rm",
    "man rm",
    "xargs --help",
    "ls | xargs grep rm",
    "env | grep rm",
    "sudo grep rm a",
    "timeout 5 grep rm a",
    "bash -c 'echo rm a'",
    "bash -n rm.sh",
    "cat <<'EOF'\nrm -rf build\n$(rm a)\nEOF",
    "cat <<-EOF\n\trm a\n\tEOF\nls",
    "git commit -m \"$(cat <<'EOF'\nUse rm, not unlink > a\nEOF\n)\"",
    "[[ a > b ]] && ls",
    "if (( a > b )); then ls; fi",
    "([[ a > b ]])",
    'echo "$(case a in x) ls;; esac) > b"',
    "echo $((a > b))",
    "a=(rm b)",
    "for rm in a b; do echo $rm; done",
    "case rm in a) ls;; esac",
    "A='rm b'",
    "rm=a ls",
    "echo ${rm:-rm a}",
    "npm run format",
    "node -e 'a > b'",
    "python -c 'import os; print(1 > 2)'",
    'python -c \'l = [1]; l.remove(1); print("a".replace("a", "b"))\'',
    "python tests/test_unlink.py",
    "python tool.py --message 'unlink the file'",
    "python -m pytest -k 'unlink or rmtree'",
    "perl -ne 'print if /unlink/' a.py",
    "awk '/unlink/ {print $1}' a.py",
    "for ((i=9; i>3; i--)); do ls; done",
    "case $x in rm | unlink) ls a;; esac",
    "cat <<EOF\nrm b $(ls)\nEOF",
    "docker ps",
    "kubectl get pods",
    "psql -c 'select 1'",
    "echo 'drop table a'",
    "./rm/run",
]


@pytest.mark.parametrize(("command", "reason"), DESTRUCTIVE.items())
def test_a_destructive_command_is_named_with_its_reason(command: str, reason: str) -> None:
    assert destructive_reason(command) == reason


@pytest.mark.parametrize("command", CALM_GIT + CALM_FILES + CALM_FORMATTERS + CALM_TEXT)
def test_what_destroys_nothing_has_no_reason(command: str) -> None:
    assert destructive_reason(command) == ""


WRITING = """\
ls > a
ls | tee a
dd if=/dev/zero of=a
truncate -s 0 a
cp -f b a
cp /dev/null a
ln -sf b a
cd sub && ls > a
bash -c 'ls > a'
{ ls; } > a""".splitlines()


@pytest.mark.parametrize("command", WRITING)
def test_a_file_is_overwritten_only_where_it_exists(command: str) -> None:
    assert destructive_reason(command, exists={"a", "sub/a"}.__contains__)
    assert destructive_reason(command, exists={"b", "sub/b"}.__contains__) == ""


@pytest.mark.parametrize(
    "command",
    ["ls > $x", "ls > *.txt", "ls > ~/a", "cd; ls > a", "cd - && ls > a", "cd $x && ls > a"]
    + ["ssh host 'ls > a'", "docker exec app tee a", "sudo -D sub tee a", "ls | xargs tee"],
)
def test_a_file_counts_where_nobody_can_tell_which_one_it_is(command: str) -> None:
    assert destructive_reason(command, exists=lambda path: False)


@pytest.mark.parametrize(
    "command",
    [
        *(
            "terraform destroy",
            "terraform -chdir=a destroy -auto-approve",
            "cd a && terraform destroy",
        ),
        *(
            "sudo -u ada terraform destroy",
            "bash -c 'terraform destroy'",
            "echo $(terraform destroy)",
        ),
        *("/opt/bin/terraform destroy", "ls | xargs terraform destroy", "A=1 Terraform destroy"),
    ],
)
def test_a_rule_of_the_user_fires_where_its_program_runs(command: str) -> None:
    assert destructive_reason(
        command,
        (
            "mycli wipe",
            "terraform destroy|taint",
        ),
    )
    assert destructive_reason(command, ("terraf* destroy",))


@pytest.mark.parametrize(
    "command",
    [
        *(
            "grep -rn terraform destroy docs",
            "git commit -m 'terraform destroy'",
            "ls # terraform destroy",
        ),
        *(
            "echo terraform destroy",
            'git commit -am "terraform destroy" && git push',
            "cat terraform destroy",
        ),
        *(
            "git log --grep terraform -- destroy",
            "man terraform destroy",
            "terraform plan; echo destroy",
        ),
        *(
            "cat <<E\nterraform destroy\nE",
            "git commit -F - <<'E'\nterraform destroy\nE",
            "a=(terraform destroy)",
        ),
        *(
            "terraform destroy-all",
            "python -c 'print(\"terraform destroy\")'",
            "cd terraform && ls destroy",
        ),
    ],
)
def test_a_rule_of_the_user_never_fires_on_text(command: str) -> None:
    assert destructive_reason(command, ("mycli wipe", "terraform|tofu destroy")) == ""
    assert destructive_reason(command) == "", "the table agrees"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("npx prisma migrate", "npx --yes prisma migrate reset"),
        ("prisma migrate", "npx --yes prisma migrate reset"),
        ("deploy.sh prod", "bash scripts/deploy.sh --now prod"),
        ("seed.py", "uv run python seed.py"),
        ("mycli -f", "mycli -xf a"),
        ("--force-reset", "npm run x -- --force-reset"),
        ("* wipe", "some-tool wipe"),
        ("terraform destroy", "aws-vault exec prod -- terraform destroy"),
        ("psql vacuum", "psql -c 'Vacuum full'"),
    ],
)
def test_a_rule_of_the_user_names_what_starts_a_program_a_script_or_an_option(
    rule: str, command: str
) -> None:
    assert destructive_reason(command, (rule,)) == rule


# What is split over lines or never closed reads differently with something around it.
WHOLE = [c for c in DESTRUCTIVE if "\n" not in c and "never closed" not in c]


def in_bash(command: str) -> str:
    return "bash -c '" + command.replace("'", "'\\''") + "'"


WRAPPERS: dict[str, Callable[[str], str]] = {
    "bash": in_bash,
    "subshell": "( {} )".format,
    "group": "{{ {}; }}".format,
    "substitution": 'echo "$( {} )"'.format,
    "behind &&": "cd a && {}".format,
    "behind |": "ls | {}".format,
    "before &&": "{} && ls".format,
    "sudo": lambda command: f"sudo -E {in_bash(command)}",
    "timeout": lambda command: f"timeout 10 {in_bash(command)}",
    "xargs": lambda command: f"ls | xargs -n 1 {in_bash(command)}",
    "find": lambda command: f"find . -exec {in_bash(command)} \\;",
}


@given(st.sampled_from(WHOLE), st.lists(st.sampled_from(sorted(WRAPPERS)), min_size=1, max_size=3))
def test_what_is_around_a_destructive_command_hides_nothing(
    command: str, wrappers: list[str]
) -> None:
    for wrapper in wrappers:
        command = WRAPPERS[wrapper](command)
    assert destructive_reason(command)


PIECES = st.sampled_from(
    [
        *"'\"\\`$(){}[]<>;&|#=-+*? \n\t",
        "$(",
        "${",
        "$((",
        "<<E",
        "<<-'E'\n",
        "<<<",
        ">&",
        "&>",
        "[[",
    ]
    + ["]]", "rm", "git", "find", "-exec", "xargs", "bash", "-c", "eval", "sudo", "env", "of=", "-"]
    + ["--", "-i", "sed", "E\n", "case", "in", "esac", "a", "1", "/tmp/", "é", "\0", "\ud800"]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join), st.lists(PIECES).map(" ".join)))
def test_any_text_is_judged_at_once(command: str) -> None:
    begun = time.perf_counter()
    assert isinstance(destructive_reason(command), str)
    assert time.perf_counter() - begun < 1


@pytest.mark.parametrize(
    "piece",
    ["$(", "${", "(", "`", "'", '"a" ', "\\a", "git;", "ls a b ", "cat <<E\n", "sudo ", "eval "]
    + ["find -exec ", "find . -exec a ; ", "git push -o ", "rm -x ", "[[ ", "echo a | sh <<< "]
    + ["bash -c ", "xargs find -exec ", "psql a | ", "a=(", "$'", "<(", "((", "echo x |sh;"],
)
def test_the_longest_command_is_judged_in_a_moment(piece: str) -> None:
    command = (piece * LONGEST)[:LONGEST]
    begun = time.perf_counter()
    destructive_reason(command)
    assert time.perf_counter() - begun < 5


def test_a_command_that_is_too_long_to_read_counts_as_destructive() -> None:
    assert destructive_reason("echo " + "a" * (LONGEST - 5)) == ""
    assert destructive_reason("echo " + "a" * LONGEST) == "a command too long to read"
    assert destructive_reason("rm a; echo " + "a" * LONGEST) == "rm"


def test_scripts_in_scripts_count_where_they_are_too_deep_to_read() -> None:
    command = "ls"
    for _ in range(12):
        command = f"find . -exec {command}"
    assert destructive_reason(command) == "a command too long to read"


PLAIN_WORD = st.text("abcdefgmnoprstxyzFX0123456789._-/:=,+@%", min_size=1, max_size=12)
KNOWN_WORD = st.sampled_from(
    [
        "rm",
        "-rf",
        "-f",
        "git",
        "reset",
        "--hard",
        "clean",
        "-fd",
        "mv",
        "sed",
        "-i",
        "-m",
        "-c",
        "env",
        "sudo",
        "bash",
        "eval",
        ".",
        "..",
        "find",
        "-delete",
    ]
)


@given(
    st.sampled_from(sorted(shell_commands._UNLISTED)),
    st.lists(PLAIN_WORD | KNOWN_WORD, max_size=5),
    st.sampled_from((" ", "  ")),
)
def test_what_is_harmless_at_a_glance_is_so_by_the_table(
    program: str, words: list[str], space: str
) -> None:
    command = space.join([program, *words])
    if shell_commands.is_plainly_harmless(command):
        assert destructive_reason(command) == ""


@pytest.mark.parametrize("command", ["", "  ", "ls -la src", "python3 hello.py", "cat a.py b.py"])
def test_most_harmless_commands_are_told_at_a_glance(command: str) -> None:
    assert shell_commands.is_plainly_harmless(command)


@pytest.mark.parametrize(
    "command",
    [
        "ls; rm -rf x",
        "ls\nrm -rf x",
        "cat a > b",
        "cat $(rm a)",
        "echo `rm a`",
        "ls & rm -rf x",
        "ls | xargs rm",
        "cat 'a b'",
        "python3 -m black .",
        "python -m black .",
        "rm a b",
        "A=1 rm a b",
        "l\\s",
        "ls ~",
        "ls *",
        "\u200bls",
    ],
)
def test_everything_else_is_taken_apart(command: str) -> None:
    assert not shell_commands.is_plainly_harmless(command)
