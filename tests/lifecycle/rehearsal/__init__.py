"""The proof that the simulator foretells what a change does: random trainings, really changed and really run."""
