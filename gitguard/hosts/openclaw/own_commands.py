"""The commands that OpenClaw carries out itself: the model gets nothing of them.

`/skill NAME` and a skill's own command are not among them: they are prompts, and so requests.
"""

OWN_COMMANDS = frozenset(
    (
        *("acp", "activation", "agents", "allowlist", "approve", "bash", "commands", "compact"),
        *("config", "context", "debug", "elev", "elevated", "exec", "export", "export-session"),
        *("fast", "focus", "help", "id", "kill", "mcp", "model", "models", "new", "plugin"),
        *("plugins", "queue", "reason", "reasoning", "reset", "restart", "send", "session"),
        *("status", "stop", "subagents", "t", "tasks", "think", "thinking", "tools", "trace"),
        *("tts", "unfocus", "usage", "v", "verbose", "voice", "whoami"),
    )
)
