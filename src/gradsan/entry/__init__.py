"""The ways in: a program that is run, a call of `gradsan.install()`, a variable of the environment."""
