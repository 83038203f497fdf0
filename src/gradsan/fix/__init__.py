"""Edits that fix a program, and the proof that they do.

A cause names remedies; `ranking` asks the source which is meant. `kinds` and `places` know where the edit of each goes,
`writing` makes it, `refusals` says what must not be, and `proposing` keeps the first that is left. With a command to
run, `proving` has `trials` run the program with it, and `judging` compares how it trains with a run without any edit.
"""
