"""What a giver notes and is asked before it is killed, for the tests of who goes on."""

from __future__ import annotations

ASKED = "Now write the rows of the loader to a.csv, with a header."
NOTES = {
    "--decision": "Totals are kept in cents, never in euros",
    "--learning": "The loader drops the first row of each file",
    "--next": "Write the export of the monthly report",
    "--constraint": "The PDF export stays as it is",
}
"""What the giver notes, by the option of `gitguard note`."""
