"""Scopes are read in `source/`; those outside of this folder still ask for them here."""

from gradsan.source.scopes import COMPREHENSIONS, Scope, scope_of, statements_of

__all__ = ["COMPREHENSIONS", "Scope", "scope_of", "statements_of"]
