"""The names of the hosts, by what gitguard can do for them."""

from __future__ import annotations

from gitguard import hosts
from gitguard.hosts.base import WITHOUT_HOOKS

__all__ = ["INSTALLABLE", "WITHOUT_HOOKS", "WITH_CONTEXT_FILES"]

INSTALLABLE = hosts.names(hosts.INSTALLING)
"""Those whose settings `Guard.install` can put gitguard into, the default first."""
WITH_CONTEXT_FILES = hosts.names(hosts.CONTEXT_FILES)
"""Those whose context files `Guard.bundle` can add."""
