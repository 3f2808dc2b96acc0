"""Conversations shortened in their transcripts, and what a session does around that."""
