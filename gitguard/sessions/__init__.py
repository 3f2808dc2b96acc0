"""Sessions: begun, chosen, repaired, noted in, listed, archived and verified."""
