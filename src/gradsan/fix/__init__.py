"""From a diagnosis to the edit that fixes it: made on the concrete syntax tree, applied whole or not at all, proved."""
