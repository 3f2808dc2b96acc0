"""Coming back: startup, repair, restore, and the block that hands the state back."""
