#!/usr/bin/env bash
# Writes the repository and the state directory that `repository.tar.gz` holds, with the gitguard
# whose command is the first argument. Run it with the version to keep, never with a later one.
set -eu
gitguard=$1 archive=$2 place=/tmp/gitguard-first-version
[ ! -e "$place" ] || { echo "$place is in the way" >&2; exit 1; }
mkdir -p "$place/home" "$place/repo"
cd "$place/repo"

run() { env -i PATH="$PATH" HOME="$place/home" LANG=C.UTF-8 TZ=UTC "$@"; }
guard() { run "$gitguard" "$@"; }
hook() { guard hook claude-code >/dev/null; }
event() { # event NAME FIELDS: one payload of Claude Code
    printf '{"session_id":"%s","transcript_path":"","cwd":"%s","hook_event_name":"%s"%s}' \
        "$conversation" "$place/repo" "$1" "${2:+,$2}" | hook
}

run git init --quiet --initial-branch=main
run git config user.name 'Test Author'
run git config user.email author@example.invalid
printf '# Example\n' > README.md
run git add README.md
run git commit --quiet --message 'First commit'
guard init >/dev/null

# The session of the branch: what hooks capture, and most kinds of checkpoints.
conversation=11111111-1111-4111-8111-111111111111
event SessionStart '"source":"startup"'
event UserPromptSubmit '"prompt":"Make the parser accept tabs. Never touch the lexer."'
printf 'def parse(line): return line.split()\n' > parser.py
event PostToolUse '"tool_name":"Write","tool_input":{"file_path":"'"$place"'/repo/parser.py","content":"x"},"tool_response":{"success":true}'
event PostToolUseFailure '"tool_name":"Bash","tool_input":{"command":"pytest -q"},"error":"Exit code 1\n1 failed, 3 passed"'
guard note --goal 'Make the parser accept tabs' --decision 'Split on any white space' --why 'Files mix both' \
    --constraint 'Never touch the lexer' --next 'Run the tests'
guard note --phase testing --learning 'str.split() without arguments splits on tabs too'
guard note --failure 'shlex.split' --error 'It treats quotes as syntax'
event PostToolUse '"tool_name":"Edit","tool_input":{"file_path":"'"$place"'/repo/parser.py","old_string":"a","new_string":"b"},"tool_response":{"success":true}'
event PreToolUse '"tool_name":"Bash","tool_input":{"command":"git reset --hard HEAD~1"}'
event PreCompact '"trigger":"manual","custom_instructions":""'
event SessionStart '"source":"compact"'
guard checkpoint --message 'Before the tests run'
guard gate --pressure 0.83 --host-session 22222222 || true
guard gate --pressure 0.90 --host-session 22222222 || true
guard restore 3 --yes
event Stop '"stop_hook_active":false,"last_assistant_message":"The parser accepts tabs; 4 tests pass."'

# A session whose history was archived after its work was complete.
guard --session finished ensure
guard --session finished note --goal 'Rename the command' --next DONE
guard session close finished
guard session use main

# One that was forked, and one whose key had to become a slug.
guard session fork tabs-again
guard session use main
guard --session 'Feature/Übersicht of Tabs' ensure
guard --session 'Feature/Übersicht of Tabs' note --goal 'An overview of tabs'

# One whose checkpoints are signed.
run ssh-keygen -q -t ed25519 -N '' -C author@example.invalid -f "$place/home/key"
printf 'author@example.invalid namespaces="git" %s\n' "$(cut -d' ' -f1,2 "$place/home/key.pub")" > "$place/home/allowed"
run git config --global gpg.format ssh
run git config --global user.signingkey "$place/home/key"
run git config --global gpg.ssh.allowedSignersFile "$place/home/allowed"
mkdir -p "$place/home/.config/gitguard"
printf 'sign: true\n' > "$place/home/.config/gitguard/config.yaml"
guard --session signed ensure
guard --session signed note --goal 'Sign what is kept'
# The private key is not kept: what was signed stays, and nothing can be signed as the same person.
rm "$place/home/.config/gitguard/config.yaml" "$place/home/key" "$place/home/.gitconfig"

# One with a checkpoint that is pending, because somebody has its branch checked out.
guard --session pending ensure
guard --session pending note --goal 'Wait for the branch'
run git worktree add --quiet "$place/held" gitguard/pending
guard --session pending note --goal 'Saved, and not committed yet' || true

guard session use main
guard verify --all
guard session list
guard status
tar --create --gzip --file "$archive" --directory "$place" --sort=name --numeric-owner --owner=0 --group=0 --exclude=.bash_history home repo held
