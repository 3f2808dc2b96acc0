#!/bin/sh
# Writes gitguard's report on the commits from BASE to HEAD, in a job of any forge.
#
#     sh report.sh BASE [HEAD [COMMAND...]]
#
# COMMAND, if given, runs with the report's file as its last argument, for instance to post it.
# REMOTE names the remote that has the checkpoints and lanes, normally `origin`; REPORT names the file
# to write, normally `report.md`.
set -eu

if [ $# -eq 0 ]; then
    echo "usage: sh report.sh BASE [HEAD [COMMAND...]]" >&2
    exit 2
fi
base=$1
head=${2:-HEAD}
shift
[ $# -eq 0 ] || shift
remote=${REMOTE:-origin}
report=${REPORT:-report.md}

# A shallow clone lacks commits, and often the branch that BASE names.
branches="+refs/heads/*:refs/remotes/$remote/*"
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
    git fetch --quiet --unshallow "$remote" "$branches"
elif ! git rev-parse --quiet --verify "$base^{commit}" >/dev/null; then
    git fetch --quiet "$remote" "$branches"
fi
# If there are no checkpoints, this fetches nothing, and the report says so. Lanes are what machines
# pushed with `gitguard sync`; they are put where no machine's own lanes are.
git fetch --quiet --no-tags "$remote" "+refs/heads/gitguard/*:refs/remotes/$remote/gitguard/*" \
    "+refs/gitguard/lanes/*:refs/gitguard/remotes/$remote/lanes/*"

gitguard report "$base..$head" --format markdown -o "$report"
if [ $# -gt 0 ]; then
    "$@" "$report"
fi
