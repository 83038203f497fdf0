"""What was wrong with a pass that PyTorch stopped: one file a kind of failure."""
