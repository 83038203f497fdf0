"""The line log: which line of the user's created an op, under which calls, in which iteration of which loop."""
