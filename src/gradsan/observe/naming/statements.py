"""Statements are read in `source/`; those outside of this folder still ask for them here."""

from gradsan.source.names import parameters
from gradsan.source.stores import Store, calls, loads, parts, stores, text

__all__ = ["Store", "calls", "loads", "parameters", "parts", "stores", "text"]
