"""Everything that touches a running torch: it turns a run into facts, and decides nothing."""
