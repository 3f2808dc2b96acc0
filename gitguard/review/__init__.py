"""What serves a reviewer: the links between code commits and checkpoints, and what is read there.

Everything here reads. Nothing is written but where the reviewer says.
"""
