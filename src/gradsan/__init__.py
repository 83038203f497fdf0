"""gradsan: a sanitizer for PyTorch's autograd graph."""
