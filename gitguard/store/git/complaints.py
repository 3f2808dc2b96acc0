"""What git complains about, without what it read in files.

Git quotes the lines that it cannot understand. With a link in the place of one of its own files,
that is a line of any file the user can read; and what we keep and show is read by an agent. So of
git's words only those stay that are part of its messages, and names that lie in the repository.
"""

from __future__ import annotations

_MOST = 300
_LONGEST_NUMBER = 3
"""Digits; line numbers and modes are told, other numbers may be anything."""
_AROUND = "'\"`:;,.()[]<>!"
_LEFT_OUT = "…"
_MESSAGES = """
a aborting about above access again agent all already alternate alternates ambiguous an and
another any argument as at bad be because been before being below branch broken but by cache
can't cannot cat-file change changed check checkout checksum close command commit commit-tree
config configuration content contents correct corrupt could couldn't create created cross-device
current cut dangling data database date decrypt default deflate delete denied detached detected
device did different directory disk does doesn't dubious duplicate empty end entry environment
error exceeded exec executable execute exist existing exists expected extension fail failed
failing fatal fetch file filename files finalize find first flush for for-each-ref force format
formats found from fsck gc get git gitdir gpg graft grafts had has hash hash-object have head
header hint i/o if ignoring in incomplete index inflate info input input/output inside instead
integer integrity into invalid io is it its key keys large left level line lines link links list
load local lock locked loose lost ls-files malformed map match maximum memory message missing
mmap mode more move moved multiple name named names neither new newline no non-empty none
nonexistent not nothing nowhere null numeric object objects odb of off old on only open opening
operation option or other out outdated output overflow own owned owner ownership pack packed
packed-refs packfile packs parent parse parsing pass passphrase path paths pathspec pending
permission permitted points prepare previous process promisor protocol prune public quota read
read-only reading reason recursive ref reference references reflog reflogs refname refs refused
refusing reject rejected remove rename renamed replace repo repository required resolve resource
resources rev-parse revision root rule run running safe safe.directory same secret section
setting sha1 sha256 shallow short sign signature signed signing size skipped small space spec
specified ssh ssh-keygen stale start stat state such symbolic symbolic-ref symlink sync system
tag target temporarily temporary than that the there this timed tmp to too tree type unable
unavailable unborn undefined unexpected unknown unlink unmerged unpack unpack-objects unreadable
unsupported unterminated until up update update-ref updating usage use used user using valid
value variable verify-commit version was were when where which while with within without working
worktree worktrees write writing written wrong yes you your zlib
"""
_WORDS = frozenset(_MESSAGES.split())


def git_words(complaint: str, *places: str) -> str:
    """Return a complaint of git's in one line, without anything that it may have read in a file.

    places are the beginnings of names that may stay, such as the worktree's path.
    """
    words: list[str] = []
    for word in complaint.split():
        visible_word = word if _may_stay(word, places) else _LEFT_OUT
        if visible_word != _LEFT_OUT or words[-1:] != [_LEFT_OUT]:
            words.append(visible_word)
    text = " ".join(words)
    return text if len(text) <= _MOST else f"{text[:_MOST]}{_LEFT_OUT}"


def _may_stay(word: str, places: tuple[str, ...]) -> bool:
    bare = word.strip(_AROUND)
    if bare.lower() in _WORDS or not bare:
        return True
    if bare.isascii() and bare.isdecimal():
        return len(bare) <= _LONGEST_NUMBER
    return any(place and bare.startswith(place) for place in places)
