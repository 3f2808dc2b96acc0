"""Context windows by provider and model, as the hosts' own packages publish them.

`references/design/contract.md` names these packages and versions; an end-to-end test
holds the table against them. A name stands for every longer one that goes on behind a
separator, and the longest name counts.
"""

from __future__ import annotations

MODEL_WINDOWS: dict[str, dict[str, int]] = {
    "anthropic": {
        "claude-3-5-haiku": 200_000,
        "claude-3-5-sonnet": 200_000,
        "claude-3-7-sonnet": 200_000,
        "claude-3-haiku-20240307": 200_000,
        "claude-3-opus-20240229": 200_000,
        "claude-3-sonnet-20240229": 200_000,
        "claude-fable-5": 1_000_000,
        "claude-haiku-4-5": 200_000,
        "claude-haiku-5-5": 1_000_000,
        "claude-mythos-5": 1_000_000,
        "claude-opus-4-0": 200_000,
        "claude-opus-4-1": 200_000,
        "claude-opus-4-20250514": 200_000,
        "claude-opus-4-5": 200_000,
        "claude-opus-4-6": 200_000,
        "claude-opus-4-7": 1_000_000,
        "claude-opus-4-8": 1_000_000,
        "claude-opus-5": 1_000_000,
        "claude-sonnet-4-0": 200_000,
        "claude-sonnet-4-20250514": 200_000,
        "claude-sonnet-4-5": 200_000,
        "claude-sonnet-4-6": 200_000,
        "claude-sonnet-5": 1_000_000,
    },
    "openai": {
        "codex-auto-review": 272_000,
        "codex-mini-latest": 200_000,
        "gpt-4-turbo": 128_000,
        "gpt-4.1": 1_047_576,
        "gpt-4o": 128_000,
        "gpt-5": 400_000,
        "gpt-5-chat-latest": 128_000,
        "gpt-5.1": 400_000,
        "gpt-5.1-chat-latest": 128_000,
        "gpt-5.2": 400_000,
        "gpt-5.2-chat-latest": 128_000,
        "gpt-5.3-chat-latest": 128_000,
        "gpt-5.3-codex": 400_000,
        "gpt-5.3-codex-spark": 128_000,
        "gpt-5.4": 272_000,
        "gpt-5.4-mini": 400_000,
        "gpt-5.4-nano": 400_000,
        "gpt-5.4-pro": 1_050_000,
        "gpt-5.5": 272_000,
        "gpt-5.5-pro": 272_000,
        "gpt-5.6-luna": 272_000,
        "gpt-5.6-sol": 272_000,
        "gpt-5.6-terra": 272_000,
        "gpt-6-astra": 272_000,
        "gpt-6-luna": 272_000,
        "gpt-6-sol": 272_000,
        "gpt-6.1-sol": 272_000,
        "gpt-6.1-terra": 500_000,
        "gpt-daybreak-blue-latest": 272_000,
        "gpt-daybreak-red-latest": 372_000,
        "o1": 200_000,
        "o3": 200_000,
        "o4-mini": 200_000,
    },
    "openai-codex": {
        "gpt-5.1": 272_000,
        "gpt-5.2": 272_000,
        "gpt-5.3-codex": 272_000,
        "gpt-5.3-codex-spark": 128_000,
        "gpt-5.4": 272_000,
        "gpt-5.5": 272_000,
    },
    "google": {
        "gemini-1.5-flash": 1_000_000,
        "gemini-1.5-pro": 1_000_000,
        "gemini-2.0-flash": 1_048_576,
        "gemini-2.5-flash": 1_048_576,
        "gemini-2.5-pro": 1_048_576,
        "gemini-3-flash-preview": 1_048_576,
        "gemini-3-pro-preview": 1_000_000,
        "gemini-3.1-flash-lite": 1_048_576,
        "gemini-3.1-pro-preview": 1_048_576,
        "gemini-3.5-flash": 1_048_576,
        "gemini-3.6-flash": 1_048_576,
        "gemini-3.7-flash": 1_048_576,
        "gemini-flash-latest": 1_048_576,
        "gemini-flash-lite-latest": 1_048_576,
        "gemini-live-2.5-flash": 128_000,
        "gemini-live-2.5-flash-preview-native-audio": 131_072,
        "gemma-3-27b-it": 131_072,
        "gemma-4-26b-a4b-it": 256_000,
        "gemma-4-31b-it": 256_000,
    },
    "xai": {
        "grok-2": 131_072,
        "grok-3": 131_072,
        "grok-4": 256_000,
        "grok-4-1-fast": 2_000_000,
        "grok-4-fast": 2_000_000,
        "grok-4.20-0309-non-reasoning": 1_000_000,
        "grok-4.20-0309-reasoning": 1_000_000,
        "grok-4.20-beta-latest-non-reasoning": 2_000_000,
        "grok-4.20-beta-latest-reasoning": 2_000_000,
        "grok-4.20-multi-agent-beta-latest": 2_000_000,
        "grok-4.3": 1_000_000,
        "grok-4.5": 500_000,
        "grok-4.6": 500_000,
        "grok-4.7": 500_000,
        "grok-beta": 131_072,
        "grok-build-0.1": 256_000,
        "grok-code-fast-1": 256_000,
    },
    "deepseek": {
        "deepseek-v4-flash": 1_000_000,
        "deepseek-v4-pro": 1_000_000,
    },
    "mistral": {
        "codestral-latest": 256_000,
        "devstral-2512": 262_144,
        "devstral-medium-2507": 128_000,
        "devstral-medium-latest": 262_144,
        "devstral-small-2505": 128_000,
        "devstral-small-2507": 128_000,
        "labs-devstral-small-2512": 256_000,
        "magistral-medium-latest": 128_000,
        "magistral-small": 128_000,
        "ministral-3b-latest": 128_000,
        "ministral-8b-latest": 128_000,
        "mistral-large-2411": 131_072,
        "mistral-large-2512": 262_144,
        "mistral-large-latest": 262_144,
        "mistral-medium-2505": 131_072,
        "mistral-medium-2508": 262_144,
        "mistral-medium-2604": 262_144,
        "mistral-medium-3.5": 262_144,
        "mistral-medium-latest": 128_000,
        "mistral-nemo": 128_000,
        "mistral-small-2506": 128_000,
        "mistral-small-2603": 256_000,
        "mistral-small-latest": 128_000,
        "open-mixtral-8x22b": 64_000,
        "open-mixtral-8x7b": 32_000,
        "pixtral-12b": 128_000,
        "pixtral-large-latest": 128_000,
    },
    "moonshotai": {
        "kimi-k2-0711-preview": 131_072,
        "kimi-k2-0905-preview": 262_144,
        "kimi-k2-thinking": 262_144,
        "kimi-k2-turbo-preview": 262_144,
        "kimi-k2.5": 262_144,
        "kimi-k2.6": 262_144,
    },
    "zai": {
        "glm-4.5": 131_072,
        "glm-4.5-air": 131_072,
        "glm-4.5-flash": 131_072,
        "glm-4.5v": 64_000,
        "glm-4.6": 204_800,
        "glm-4.6v": 128_000,
        "glm-4.7": 204_800,
        "glm-4.7-flash": 200_000,
        "glm-5": 204_800,
        "glm-5-turbo": 200_000,
        "glm-5.1": 200_000,
        "glm-5v-turbo": 200_000,
    },
    "minimax": {
        "minimax-m2": 196_608,
        "minimax-m2.1": 204_800,
        "minimax-m2.5": 204_800,
        "minimax-m2.5-highspeed": 204_800,
        "minimax-m2.7": 204_800,
    },
    "github-copilot": {
        "claude-fable-5": 1_000_000,
        "claude-haiku-4.5": 128_000,
        "claude-opus-4.5": 128_000,
        "claude-opus-4.6": 128_000,
        "claude-opus-4.7": 144_000,
        "claude-opus-4.8": 1_000_000,
        "claude-opus-5": 1_000_000,
        "claude-sonnet-4": 128_000,
        "claude-sonnet-4.5": 128_000,
        "claude-sonnet-4.6": 128_000,
        "claude-sonnet-5": 1_000_000,
        "gemini-2.5-pro": 128_000,
        "gemini-3-flash-preview": 128_000,
        "gemini-3-pro-preview": 128_000,
        "gemini-3.1-pro-preview": 128_000,
        "gemini-3.5-flash": 1_048_576,
        "gemini-3.6-flash": 1_048_576,
        "gpt-4.1": 64_000,
        "gpt-4o": 64_000,
        "gpt-5": 128_000,
        "gpt-5-mini": 128_000,
        "gpt-5.1": 128_000,
        "gpt-5.1-codex": 128_000,
        "gpt-5.1-codex-max": 128_000,
        "gpt-5.1-codex-mini": 128_000,
        "gpt-5.2": 264_000,
        "gpt-5.2-codex": 400_000,
        "gpt-5.3-codex": 272_000,
        "gpt-5.4": 400_000,
        "gpt-5.4-mini": 272_000,
        "gpt-5.5": 272_000,
        "gpt-5.6-luna": 922_000,
        "gpt-5.6-sol": 922_000,
        "gpt-5.6-terra": 922_000,
        "grok-code-fast-1": 128_000,
    },
    "kimi-coding": {
        "k2p5": 262_144,
        "kimi-for-coding": 262_144,
        "kimi-k2-thinking": 262_144,
    },
}
"""Tokens; the smallest where the hosts differ. Ids are in lower case."""

DISPUTED = frozenset(
    {
        "anthropic/claude-opus-4-6",
        "anthropic/claude-sonnet-4-6",
        "openai/gpt-5.4",
        "openai/gpt-5.5-pro",
        "xai/grok-4.20-0309-non-reasoning",
        "xai/grok-4.20-0309-reasoning",
        "github-copilot/claude-haiku-4.5",
        "github-copilot/gemini-2.5-pro",
        "github-copilot/gemini-3.1-pro-preview",
        "github-copilot/gpt-5.3-codex",
        "github-copilot/gpt-5.4",
        "github-copilot/gpt-5.4-mini",
        "github-copilot/gpt-5.5",
        "mistral/mistral-medium-latest",
        "mistral/mistral-small-latest",
        "github-copilot/claude-opus-4.5",
        "github-copilot/claude-opus-4.6",
        "github-copilot/claude-sonnet-4",
        "github-copilot/claude-sonnet-4.5",
        "github-copilot/claude-sonnet-4.6",
        "github-copilot/gpt-4.1",
        "github-copilot/gpt-4o",
        "github-copilot/gpt-5-mini",
        "github-copilot/gpt-5.1",
        "github-copilot/gpt-5.1-codex",
        "github-copilot/gpt-5.1-codex-max",
        "github-copilot/gpt-5.1-codex-mini",
    }
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
_SEPARATORS = "-[@:"


def published_window(model: str) -> tuple[int, bool]:
    """Return the published window and whether the hosts agree on it; 0 where none is published."""
    provider, _, name = model.lower().rpartition("/")
    provider = provider.rpartition("/")[2]
    name = name.rpartition("anthropic.")[2]  # as Bedrock names them
    if name.endswith("[1m]"):
        return 1_000_000, True  # how its host names a model with its long window
    for each in (provider,) if provider in MODEL_WINDOWS else MAKERS:
        prefix = _longest_prefix(name, MODEL_WINDOWS[each])
        if prefix:
            return MODEL_WINDOWS[each][prefix], f"{each}/{prefix}" not in DISPUTED
    return 0, False


def _longest_prefix(name: str, table: dict[str, int]) -> str:
    """Return the longest name of the table that the model's begins with, empty for none."""
    for end in range(len(name), 0, -1):
        is_end = end == len(name) or name[end] in _SEPARATORS
        if is_end and name[:end] in table:
            return name[:end]
    return ""
