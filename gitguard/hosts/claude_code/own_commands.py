"""The commands that Claude Code carries out itself: the model gets nothing of them.

`/init`, `/review`, `/security-review`, `/statusline` and a user's own commands are not among them:
they are prompts, and so requests.
"""

OWN_COMMANDS = frozenset(
    (
        *("add-dir", "agents", "bashes", "branch", "bug", "clear", "color", "compact", "config"),
        *("context", "copy", "cost", "desktop", "diff", "doctor", "effort", "exit", "export"),
        *("extra-usage", "fast", "feedback", "fork", "help", "hooks", "ide", "keybindings"),
        *("install-github-app", "install-slack-app", "login", "logout", "mcp", "memory", "mobile"),
        *("model", "new", "output-style", "passes", "permissions", "plugin", "privacy-settings"),
        *("quit", "recap", "release-notes", "reload-plugins", "remote-control", "rename", "reset"),
        *("resume", "rewind", "sandbox", "settings", "skills", "stats", "status", "tasks"),
        *("terminal-setup", "theme", "todos", "upgrade", "usage", "vim", "voice"),
    )
)
