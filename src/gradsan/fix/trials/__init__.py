"""The user's program, run with an edit where it can touch nothing."""
