"""Finds live objects by their class."""

import gc
from itertools import chain, compress, repeat
from operator import delitem
from typing import Any


def instances(*kinds: type) -> list[Any]:
    """All live objects of some classes or their subclasses that the garbage collector knows.

    It takes a fifth of a second where there are a million objects: who looks for several classes asks once.
    Among all objects may be a tuple that another thread is just building, and its thread gets a SystemError if anybody
    else holds it then. Threads take turns only where Python code runs. So none runs while all objects are held: they
    are fetched, sifted and let go within one call of `list`. And classes are known by `type()`: `isinstance` asks
    objects for their class, and proxies and lazy modules answer by doing things.
    """
    everything: list[Any] = []
    fetch = map(everything.extend, map(gc.get_objects, (None,)))
    sift = compress(everything, map(issubclass, map(type, everything), repeat(kinds)))
    let_go = map(delitem, (everything,), (slice(None),))
    try:
        return list(chain(fetch, sift, let_go))[1:-1]  # without the answers of the first and the last
    finally:
        everything.clear()
