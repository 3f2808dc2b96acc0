"""The patterns of work that a conversation shows, and the evidence for them."""

from __future__ import annotations

TOOL_HEAVY, CONVERSATIONAL, MIXED, BURSTY = "tool-heavy", "conversational", "mixed", "bursty"
UNKNOWN = "unknown"
"""Where there is too little to say."""
PATTERNS = (TOOL_HEAVY, CONVERSATIONAL, MIXED, BURSTY)
