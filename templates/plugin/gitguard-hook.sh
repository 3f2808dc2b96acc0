#!/bin/sh
# Passes one event of a host, which is the argument's name, to `gitguard hook`.
#
# Some hosts take any failure of a hook for a refusal, so this ends with 0 and says nothing on
# standard error, whatever gitguard does. It prints what gitguard answered, or nothing.
exec 2>/dev/null
trap 'exit 0' HUP INT PIPE TERM

event=$1
here=${0%/*}

# A second less than the host waits, as in hooks.json.
case $event in
SessionEnd) limit=2 ;;
PreCompact) limit=59 ;;
SessionStart | UserPromptSubmit) limit=29 ;;
*) limit=14 ;;
esac

# Every host but Codex names the project to hooks. Only these two names matter, because gitguard
# knows each of the others by its marks.
if [ -n "$CLAUDE_PROJECT_DIR" ]; then
    host=claude-code
else
    host=codex
fi

find_gitguard() {
    recorded=
    [ -r "$here/gitguard-path" ] && read -r recorded <"$here/gitguard-path"
    for program in "$GITGUARD_BIN" "$recorded"; do
        [ -f "$program" ] && [ -x "$program" ] && return
    done
    program=$(command -v gitguard) && return
    for folder in "$HOME/.local/bin" "$HOME/bin" "$PIPX_BIN_DIR" "$UV_TOOL_BIN_DIR" \
        "${PIPX_HOME:-$HOME/.local/share/pipx}/venvs/gitguard-workspace/bin" \
        "$HOME/.local/pipx/venvs/gitguard-workspace/bin" \
        "${UV_TOOL_DIR:-$HOME/.local/share/uv/tools}/gitguard-workspace/bin" \
        /usr/local/bin /opt/homebrew/bin; do
        program=$folder/gitguard
        [ -f "$program" ] && [ -x "$program" ] && return
    done
    return 1
}

# Becomes a program that is ended after the limit.
exec_within_limit() {
    if command -v timeout >/dev/null; then
        exec timeout -s KILL "$limit" "$@"
    elif command -v perl >/dev/null; then
        exec perl -e 'alarm shift; exec @ARGV' "$limit" "$@"
    else
        exec "$@"
    fi
}

# Says once a day how to install gitguard, where it can be remembered that this was said.
tell_how_to_install() {
    mark=${XDG_CACHE_HOME:-$HOME/.cache}/gitguard/plugin-hint
    [ -z "$(find "$mark" -mtime -1)" ] || return
    mkdir -p "${mark%/*}" && touch "$mark" || return
    problem='The gitguard plugin found no gitguard command, so nothing of this work is saved.'
    remedy='To install it, run pipx install . in a clone of gitguard. GITGUARD_BIN may name its path.'
    context="$problem Tell the user once. $remedy"
    # Copilot CLI reads the key outside alone, and Codex refuses an answer that has it.
    outside="\"additionalContext\":\"$context\","
    [ "$host" = codex ] && outside=
    inside="{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"$context\"}"
    printf '{%s"systemMessage":"%s","hookSpecificOutput":%s}\n' \
        "$outside" "$problem $remedy" "$inside"
}

if find_gitguard; then
    # What a program said that failed, or what is no JSON object, may mean anything to a host.
    if answer=$(exec_within_limit "$program" hook "$host"); then
        case $answer in
        "{"*"}") printf '%s\n' "$answer" ;;
        esac
        exit 0
    fi
elif [ "$event" = SessionStart ]; then
    tell_how_to_install
fi
# Hosts may fail at input that nobody reads.
cat >/dev/null
exit 0
