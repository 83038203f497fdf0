"""Where in a program an edit goes, and what it says there: shared by the kinds of fix."""
