"""The pipeline: what was observed, then causes, then fixes, then the diagnosis that a user is shown."""
