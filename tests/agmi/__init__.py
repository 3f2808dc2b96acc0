"""gitguard under the public conformance suite for agents' memory, `agent-memory-integrity`.

`python -m tests.agmi` prints the scorecard.
"""
