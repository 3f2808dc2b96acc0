"""What becomes of a session branch in other hands: deleted, moved, replaced, or emptied."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from tests.support.conversation import Conversation

BRANCH = "refs/heads/gitguard/main"
FORGED = "Forged words"


def deleted(talk: Conversation) -> None:
    talk.git("branch", "--quiet", "-D", "gitguard/main")


def deleted_again(talk: Conversation) -> None:
    deleted(talk)
    talk.guard.ensure()
    deleted(talk)


def renamed(talk: Conversation) -> None:
    talk.git("branch", "-m", "gitguard/main", "mine")


def rewound(talk: Conversation) -> None:
    talk.git("update-ref", BRANCH, f"{BRANCH}~1")


def amended(talk: Conversation) -> None:
    talk.git("update-ref", BRANCH, child(talk, f"{BRANCH}~1"))


def child_on_top(talk: Conversation) -> None:
    talk.git("update-ref", BRANCH, child(talk, BRANCH))


def code_in_its_place(talk: Conversation) -> None:
    talk.git("update-ref", BRANCH, "HEAD")


def at_another_session(talk: Conversation) -> None:
    """Point the branch at the head of a session of ours that goes by another name."""
    other = Conversation(talk.root.parent, "S9", talk.clock)
    other._places = other._places.replace(session="other")
    other.guard.ensure()
    talk.git("update-ref", BRANCH, "refs/heads/gitguard/other")


def symbolic(talk: Conversation) -> None:
    talk.git("symbolic-ref", BRANCH, "refs/heads/main")


def symbolic_to_nothing(talk: Conversation) -> None:
    talk.git("symbolic-ref", BRANCH, "refs/heads/nowhere")


def moved_and_packed(talk: Conversation) -> None:
    rewound(talk)
    talk.git("pack-refs", "--all", "--prune")


def without(what: str) -> Callable[[Conversation], None]:
    """Return what removes an object of the newest checkpoint."""

    def remove(talk: Conversation) -> None:
        name = talk.git("rev-parse", BRANCH + what).strip()
        (talk.root / ".git" / "objects" / name[:2] / name[2:]).unlink()

    return remove


def deleted_and_pruned(talk: Conversation) -> None:
    deleted(talk)
    talk.git("reflog", "expire", "--expire=now", "--all")
    talk.git("gc", "--quiet", "--prune=now")


def rewound_and_pruned(talk: Conversation) -> None:
    rewound(talk)
    talk.git("reflog", "expire", "--expire=now", "--all")
    talk.git("gc", "--quiet", "--prune=now")


def packed(talk: Conversation) -> None:
    talk.git("gc", "--quiet")


def a_tag_of_its_name(talk: Conversation) -> None:
    talk.git("tag", "gitguard/main", "HEAD")


def on_a_remote_ahead(talk: Conversation) -> None:
    talk.git("update-ref", "refs/remotes/origin/gitguard/main", child(talk, BRANCH))


OURS = (packed, a_tag_of_its_name, on_a_remote_ahead)
"""What changes nothing of a branch that is ours."""
PUT_BACK = (deleted, renamed)
HELD = (
    rewound,
    amended,
    child_on_top,
    code_in_its_place,
    at_another_session,
    symbolic,
    symbolic_to_nothing,
    moved_and_packed,
)
"""Where our state goes on, and nothing is committed."""
STOPPED = {
    "deleted again": deleted_again,
    "deleted and pruned": deleted_and_pruned,
    "rewound and pruned": rewound_and_pruned,
    "without its commit": without(""),
    "without its tree": without("^{tree}"),
    "without its state": without(":state.json"),
    "without its snapshot": without(":snapshot.yaml"),
}


def child(talk: Conversation, parent: str) -> str:
    """Write a checkpoint with forged words that fits on top of another one; return its commit."""
    state = json.loads(talk.git("show", f"{BRANCH}:state.json"))
    origin = {"when": state["updated_at"], "by": "user", "conversation": "S1"}
    state |= {"goal": FORGED, "goal_from": origin, "next_action": FORGED, "current_phase": FORGED}
    for decision in state.get("decisions", ()):
        decision["what"] = decision["why"] = FORGED
    for exchange in state.get("exchanges", ()):
        exchange["text"] = FORGED
    blob = talk.write("blob", json.dumps(state, indent=2, sort_keys=True) + "\n")
    lines = talk.git("ls-tree", BRANCH).splitlines()
    lines = [x if "state.json" not in x else f"100644 blob {blob}\tstate.json" for x in lines]
    tree = talk.git("mktree", stdin="".join(f"{line}\n" for line in lines)).strip()
    message = talk.git("log", "-1", "--format=%B", BRANCH)
    number = int(
        talk.git("log", "-1", "--format=%(trailers:key=Gitguard-Sequence,valueonly)", parent)
    )
    head = talk.git("rev-parse", "HEAD").strip()
    message = re.sub(r"Sequence: \d+", f"Sequence: {number + 1}", message)
    message = re.sub(r"checkpoint \d+: .*", f"checkpoint {number + 1}: {FORGED}", message)
    message = re.sub(r"Head: \w+", f"Head: {head}", message)
    return talk.git("commit-tree", tree, "-p", parent, stdin=message).strip()
