"""Faults put into every function of gradsan that runs in the program's process, one at a time: none may be felt."""
