"""Context windows by provider and model, as the hosts' own packages publish them.

`references/design/contract.md` names these packages and versions; an end-to-end test
holds the table against them. A name stands for every longer one that goes on behind a
separator, and the longest name counts.
"""

from __future__ import annotations

_PUBLISHED: dict[str, dict[int, str]] = {
    "anthropic": {
        200_000: "claude-3-5-haiku claude-3-5-sonnet claude-3-7-sonnet claude-3-haiku-20240307 "
        "claude-3-opus-20240229 claude-3-sonnet-20240229 claude-haiku-4-5 claude-opus-4-0 "
        "claude-opus-4-1 claude-opus-4-20250514 claude-opus-4-5 claude-opus-4-6 "
        "claude-sonnet-4-0 claude-sonnet-4-20250514 claude-sonnet-4-5 claude-sonnet-4-6",
        1_000_000: "claude-fable-5 claude-haiku-5-5 claude-mythos-5 claude-opus-4-7 "
        "claude-opus-4-8 claude-opus-5 claude-sonnet-5",
    },
    "openai": {
        128_000: "gpt-4-turbo gpt-4o gpt-5-chat-latest gpt-5.1-chat-latest gpt-5.2-chat-latest "
        "gpt-5.3-chat-latest gpt-5.3-codex-spark",
        200_000: "codex-mini-latest o1 o3 o4-mini",
        272_000: "codex-auto-review gpt-5.4 gpt-5.5 gpt-5.5-pro gpt-5.6-luna gpt-5.6-sol "
        "gpt-5.6-terra gpt-6-astra gpt-6-luna gpt-6-sol gpt-6.1-sol gpt-daybreak-blue-latest",
        372_000: "gpt-daybreak-red-latest",
        400_000: "gpt-5 gpt-5.1 gpt-5.2 gpt-5.3-codex gpt-5.4-mini gpt-5.4-nano",
        500_000: "gpt-6.1-terra",
        1_047_576: "gpt-4.1",
        1_050_000: "gpt-5.4-pro",
    },
    "openai-codex": {
        128_000: "gpt-5.3-codex-spark",
        272_000: "gpt-5.1 gpt-5.2 gpt-5.3-codex gpt-5.4 gpt-5.5",
    },
    "google": {
        128_000: "gemini-live-2.5-flash",
        131_072: "gemini-live-2.5-flash-preview-native-audio gemma-3-27b-it",
        256_000: "gemma-4-26b-a4b-it gemma-4-31b-it",
        1_000_000: "gemini-1.5-flash gemini-1.5-pro gemini-3-pro-preview",
        1_048_576: "gemini-2.0-flash gemini-2.5-flash gemini-2.5-pro gemini-3-flash-preview "
        "gemini-3.1-flash-lite gemini-3.1-pro-preview gemini-3.5-flash gemini-3.6-flash "
        "gemini-3.7-flash gemini-flash-latest gemini-flash-lite-latest",
    },
    "xai": {
        131_072: "grok-2 grok-3 grok-beta",
        256_000: "grok-4 grok-build-0.1 grok-code-fast-1",
        500_000: "grok-4.5 grok-4.6 grok-4.7",
        1_000_000: "grok-4.20-0309-non-reasoning grok-4.20-0309-reasoning grok-4.3",
        2_000_000: "grok-4-1-fast grok-4-fast grok-4.20-beta-latest-non-reasoning "
        "grok-4.20-beta-latest-reasoning grok-4.20-multi-agent-beta-latest",
    },
    "deepseek": {1_000_000: "deepseek-v4-flash deepseek-v4-pro"},
    "mistral": {
        32_000: "open-mixtral-8x7b",
        64_000: "open-mixtral-8x22b",
        128_000: "devstral-medium-2507 devstral-small-2505 devstral-small-2507 "
        "magistral-medium-latest magistral-small ministral-3b-latest ministral-8b-latest "
        "mistral-medium-latest mistral-nemo mistral-small-2506 mistral-small-latest pixtral-12b "
        "pixtral-large-latest",
        131_072: "mistral-large-2411 mistral-medium-2505",
        256_000: "codestral-latest labs-devstral-small-2512 mistral-small-2603",
        262_144: "devstral-2512 devstral-medium-latest mistral-large-2512 mistral-large-latest "
        "mistral-medium-2508 mistral-medium-2604 mistral-medium-3.5",
    },
    "moonshotai": {
        131_072: "kimi-k2-0711-preview",
        262_144: "kimi-k2-0905-preview kimi-k2-thinking kimi-k2-turbo-preview kimi-k2.5 kimi-k2.6",
    },
    "zai": {
        64_000: "glm-4.5v",
        128_000: "glm-4.6v",
        131_072: "glm-4.5 glm-4.5-air glm-4.5-flash",
        200_000: "glm-4.7-flash glm-5-turbo glm-5.1 glm-5v-turbo",
        204_800: "glm-4.6 glm-4.7 glm-5",
    },
    "minimax": {
        196_608: "minimax-m2",
        204_800: "minimax-m2.1 minimax-m2.5 minimax-m2.5-highspeed minimax-m2.7",
    },
    "github-copilot": {
        64_000: "gpt-4.1 gpt-4o",
        128_000: "claude-haiku-4.5 claude-opus-4.5 claude-opus-4.6 claude-sonnet-4 "
        "claude-sonnet-4.5 claude-sonnet-4.6 gemini-2.5-pro gemini-3-flash-preview "
        "gemini-3-pro-preview gemini-3.1-pro-preview gpt-5 gpt-5-mini gpt-5.1 gpt-5.1-codex "
        "gpt-5.1-codex-max gpt-5.1-codex-mini grok-code-fast-1",
        144_000: "claude-opus-4.7",
        264_000: "gpt-5.2",
        272_000: "gpt-5.3-codex gpt-5.4-mini gpt-5.5",
        400_000: "gpt-5.2-codex gpt-5.4",
        922_000: "gpt-5.6-luna gpt-5.6-sol gpt-5.6-terra",
        1_000_000: "claude-fable-5 claude-opus-4.8 claude-opus-5 claude-sonnet-5",
        1_048_576: "gemini-3.5-flash gemini-3.6-flash",
    },
    "kimi-coding": {262_144: "k2p5 kimi-for-coding kimi-k2-thinking"},
}
"""By provider and window: the models that have it."""
MODEL_WINDOWS: dict[str, dict[str, int]] = {
    provider: {name: window for window, names in by_window.items() for name in names.split()}
    for provider, by_window in _PUBLISHED.items()
}

_DIFFERING: dict[str, str] = {
    "anthropic": "claude-opus-4-6 claude-sonnet-4-6",
    "github-copilot": "claude-haiku-4.5 claude-opus-4.5 claude-opus-4.6 claude-sonnet-4 "
    "claude-sonnet-4.5 claude-sonnet-4.6 gemini-2.5-pro gemini-3.1-pro-preview gpt-4.1 gpt-4o "
    "gpt-5-mini gpt-5.1 gpt-5.1-codex gpt-5.1-codex-max gpt-5.1-codex-mini gpt-5.3-codex "
    "gpt-5.4 gpt-5.4-mini gpt-5.5",
    "mistral": "mistral-medium-latest mistral-small-latest",
    "openai": "gpt-5.4 gpt-5.5-pro",
    "xai": "grok-4.20-0309-non-reasoning grok-4.20-0309-reasoning",
}
DISPUTED = frozenset(
    f"{provider}/{name}" for provider, names in _DIFFERING.items() for name in names.split()
)
"""Models for which two hosts publish windows that differ by more than 5 %: no more than an
assumption, as the host that runs one decides."""

MAKERS = (
    "anthropic",
    "openai",
    "google",
    "xai",
    "deepseek",
    "mistral",
    "moonshotai",
    "zai",
    "minimax",
)
"""Where a model is looked up that comes without a provider, or from one without a table."""
