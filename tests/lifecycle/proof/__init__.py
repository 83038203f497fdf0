"""The proof that the model does what PyTorch does: random programs, run in both."""
