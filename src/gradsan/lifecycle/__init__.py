"""The model of a graph's life, and the law of freeing: pure values and functions, proven against PyTorch."""
