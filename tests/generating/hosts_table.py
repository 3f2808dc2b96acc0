"""What gitguard can do in each host: a table whose cells come from the hosts' own declarations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from gitguard.hosts import HEALTH, HOOKS, HOSTS, find_host, names
from gitguard.model import events
from gitguard.transcripts.formats import FORMATS

if TYPE_CHECKING:
    from gitguard.hosts.base import Host

YES, NO = "yes", "no"
_LIVE, _PAIRS = "tests/e2e/test_live_hosts.py", "tests/e2e/test_pairs.py"
_TAKEN_BACK = "tests/e2e/test_taken_back.py"
_DIALECT, _LIVES = "tests/hosts/test_dialect.py", "tests/hosts/test_lives.py"
_CAPTURE = f"{_LIVE}::test_a_turn_is_captured_and_checkpointed_at_its_end"
_COMPACTION = (
    f"{_LIVE}::test_a_compaction_comes_after_a_checkpoint_and_is_followed_by_the_block_once"
)


class Capability(NamedTuple):
    """One row of the table."""

    title: str
    judge: Callable[[Host], str]
    """Returns yes, no, or what works in part."""
    tests: tuple[str, ...]
    """The tests that show it, as file and name."""


def _prompts(host: Host) -> str:
    return YES if host.abilities.tells_prompts else "partly: read in the transcript"


def _ends(host: Host) -> str:
    return YES if host.abilities.tells_results else "partly: some are read in the transcript"


def _answers(host: Host) -> str:
    return YES if host.abilities.tells_answers else "partly: read in the transcript"


def _compactions(host: Host) -> str:
    if host.name == "droid":
        return "partly: before one that the user asks for"
    return YES


def _block_at_begin(host: Host) -> str:
    return YES if {events.PROMPT, events.BOOTSTRAP} & {*host.abilities.hears} else NO


def _block_after_compaction(host: Host) -> str:
    hears = host.abilities.hears
    is_told_at_once = events.SESSION_START in hears and host.abilities.tells_compactions
    if events.BOOTSTRAP in hears or is_told_at_once:
        return YES
    with_call = "yes, with the next tool call"
    return with_call if events.TOOL_END in hears else "partly: at the next prompt"


def _warnings(host: Host) -> str:
    return YES if host.abilities.hears_after_tools else "partly: at the next prompt"


def _halt(host: Host) -> str:
    if host.abilities.ends_turns:
        return YES
    if host.abilities.stops_compactions:
        return "partly: every call is denied, and the turn ends where it would compact"
    return "partly: every call is denied, the turn goes on"


def _sub_agents(host: Host) -> str:
    if host.name == "pi":
        return "it has none"
    return YES if host.abilities.marks_sub_agents else "partly: by when they begin and end"


def _forks(host: Host) -> str:
    if host.name == "openclaw":
        return "a session key is one conversation"
    if host.name == "copilot":
        return "yes; it has no forks"
    return "partly: a fork counts as a new one" if host.name == "opencode" else YES


def _taken_back(host: Host) -> str:
    row = FORMATS[host.name]
    return YES if row.tells_taken_back or row.tells_copies else "no: nothing shows them"


def _handed_over(host: Host) -> str:
    return "yes, in a session that both work at" if host.name == "openclaw" else YES


def _health(host: Host) -> str:
    return YES if HEALTH in HOSTS[host.name].capabilities else NO


def _transcripts(host: Host) -> str:
    row = FORMATS[host.name]
    return "read, repaired" if row.is_written else "read"


CAPABILITIES = (
    Capability("prompts", _prompts, (_CAPTURE,)),
    Capability("tool calls, their ends and exit codes", _ends, (_CAPTURE,)),
    Capability("answers", _answers, (_CAPTURE,)),
    Capability("checkpoint at the end of a turn", lambda _: YES, (_CAPTURE,)),
    Capability("checkpoint before a compaction", _compactions, (_COMPACTION,)),
    Capability(
        "task state in a new conversation",
        _block_at_begin,
        (f"{_LIVE}::test_a_new_conversation_has_the_block_in_its_first_request_and_once",),
    ),
    Capability(
        "task state after a kill",
        _block_at_begin,
        (f"{_LIVE}::test_what_a_kill_cut_off_is_handed_to_the_next_conversation",),
    ),
    Capability("task state after a compaction", _block_after_compaction, (_COMPACTION,)),
    Capability(
        "warnings while it works",
        _warnings,
        (f"{_DIALECT}::test_a_context_is_put_where_the_host_reads_it_and_nowhere_else",),
    ),
    Capability(
        "halt",
        _halt,
        (
            f"{_LIVE}::test_a_halted_conversation_runs_no_further_call_and_goes_on_after_an_override",
            f"{_LIVE}::test_a_halted_turn_ends_where_the_host_would_compact_and_the_next_prompt_"
            "compacts",
        ),
    ),
    Capability(
        "sub-agents told apart",
        _sub_agents,
        (
            f"{_LIVE}::test_the_calls_of_a_sub_agent_are_recorded_as_its_own_and_never_denied",
            f"{_DIALECT}::test_a_sub_agent_is_its_parents",
            f"{_LIVES}::test_calls_of_a_sub_agent_without_a_name_are_journaled_and_never_gated",
        ),
    ),
    Capability(
        "resumed and forked conversations",
        _forks,
        (f"{_LIVE}::test_a_resumed_conversation_is_the_same_and_a_fork_one_of_its_own",),
    ),
    Capability(
        "turns that the user takes back",
        _taken_back,
        (f"{_TAKEN_BACK}::test_a_prompt_that_the_user_took_back_is_not_called_their_request",),
    ),
    Capability(
        "the task of another host's killed agent",
        _handed_over,
        (
            f"{_PAIRS}::test_every_noted_fact_is_in_the_first_request_of_another_host_after_a_kill",
            f"{_PAIRS}::test_openclaw_takes_over_from_claude_code_what_was_begun_in_its_session",
            f"{_PAIRS}::test_claude_code_takes_over_what_openclaw_was_killed_at",
        ),
    ),
    Capability(
        "works on where gitguard does not",
        lambda _: YES,
        (
            f"{_LIVE}::test_a_gitguard_that_does_not_work_keeps_no_host_from_its_work",
            f"{_LIVE}::test_a_gitguard_that_hangs_keeps_no_host_from_its_work_and_status_says_"
            "what_it_missed",
        ),
    ),
    Capability(
        "`uninstall` gives every byte back",
        lambda _: YES,
        (f"{_LIVE}::test_uninstall_gives_every_byte_back",),
    ),
    Capability("`status` says whether hooks run", _health, ("tests/sessions/test_hook_health.py",)),
    Capability("transcripts", _transcripts, ("tests/e2e/test_other_hosts.py",)),
)
"""OpenClaw's own tests stand in tests/e2e/test_openclaw.py and test_memory_openclaw.py."""


def hosts_page() -> str:
    """Return the page: a column a host, a row a capability, and the tests behind the rows."""
    hosts = [find_host(name) for name in names(HOOKS)]
    lines = [
        "# What gitguard does in each host",
        "",
        "Generated by `make references` from what each host's adapter declares. The numbers name",
        "the tests that show a row: those in `tests/e2e` with the real programs, others by",
        "recorded payloads. OpenClaw has its own: `tests/e2e/test_openclaw.py` and",
        "`tests/e2e/test_memory_openclaw.py`.",
        "[Hosts](../guides/hosts.md) says how each is set up.",
        "",
        "| | " + " | ".join(host.name for host in hosts) + " | test |",
        "| --- |" + " --- |" * (len(hosts) + 1),
    ]
    tests: list[str] = []
    for capability in CAPABILITIES:
        for test in capability.tests:
            if test not in tests:
                tests.append(test)
        cells = " | ".join(capability.judge(host) for host in hosts)
        numbers = ", ".join(str(tests.index(test) + 1) for test in capability.tests)
        lines.append(f"| {capability.title} | {cells} | {numbers} |")
    lines += ["", *(f"{number}. `{test}`" for number, test in enumerate(tests, 1))]
    return "\n".join(lines) + "\n"
