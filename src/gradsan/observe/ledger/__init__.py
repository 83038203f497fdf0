"""The ledger: what passes, steps, gradients and holders did over a run, for the problems that never raise."""
