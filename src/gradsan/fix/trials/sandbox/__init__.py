"""Where a trial runs: a process that owns it, and a file system of its own. Nothing of the user's is touched."""
