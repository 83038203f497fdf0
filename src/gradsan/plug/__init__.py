"""Where people already work: each module plugs gradsan into one tool, and calls in."""
