"""Faults put into every function of gradsan that runs in the program's process, one at a time: none may be felt.

Of every kind, KeyboardInterrupt and SystemExit too: what gradsan's own code raises is its own, and nobody has pressed a
key. What a key, a signal or another thread brings is the program's, and must arrive (`signals.py`).
"""
