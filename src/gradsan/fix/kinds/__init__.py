"""One file a kind of fix: where an expert would make the edit, best place first.

Each has `drafts(program)`. A kind that finds no place it has reason for offers nothing: the fix keeps its title, and
whoever reads it makes the edit by hand.
"""
