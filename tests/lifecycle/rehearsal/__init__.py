"""The proof that the simulator predicts what a change does: random trainings, really changed and really run."""
