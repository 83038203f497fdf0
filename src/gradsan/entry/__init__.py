"""The entry points: a program that is run, a call of `gradsan.install()`, a variable of the environment."""
