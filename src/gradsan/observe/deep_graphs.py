"""Lets a deep graph that was walked be destroyed piece by piece, however little room a thread has on its stack.

From torch 2.13 on, an op that Python has seen once keeps its Python object as long as it lives, and a chain of such ops
is destroyed by recursion, some 250 bytes an op: 35,000 in a row overflow the usual stack, and the process dies. What
nobody has looked at is destroyed in a loop. To walk a graph is to look at it.

Python destroys nested containers by recursion too, and puts off what lies too deep until the recursion is over. So
every stretch of a chain holds the next one in a container as well, in a place that an op has for whatever belongs to
it. An op holds the ops that it leads to anyhow: nothing lives longer for that.
"""

import sys
from collections.abc import Mapping, Sequence
from functools import reduce
from types import GetSetDescriptorType
from typing import Any

from gradsan.observe.private import NO_NUMBER
from gradsan.observe.unasked import lineage_of, namespace_of

_DEEP = 2_000  # ops, which a small stack has room for
_STRETCH = 64  # creation numbers; so no path within a stretch has more ops
_LEAVES = NO_NUMBER // _STRETCH  # they lead nowhere
_KEY = "gradsan: destroyed later"
# Containers in one another that take the place of one: up to 3.12 Python puts off the 50th, then the 10,000th.
_LEVELS = 1 if sys.version_info < (3, 13) else 100


def part_stretches(below: Mapping[Any, Sequence[Any]]) -> None:
    """See to it that no recursion goes far in a graph: its ops, each with those that it leads to."""
    if len(below) < _DEEP:
        return
    stretches = {node: node._sequence_nr() // _STRETCH for node in below}  # noqa: SLF001 # as in graph.py
    beyond: dict[Any, list[Any]] = {}
    for node, following in below.items():
        here = stretches[node]
        for each in following:
            if stretches.get(each, _LEAVES) not in (here, _LEAVES):
                beyond.setdefault(node, []).append(each)
    for node, held in beyond.items():
        _belongings(node)[_KEY] = reduce(lambda content, _: [content], range(_LEVELS - 1), held)


def _belongings(node: Any) -> dict[str, Any]:  # noqa: ANN401 # an op
    """Its `metadata`, which a Function of the user's may have as a name of its own."""
    places = (namespace_of(kind).get("metadata") for kind in lineage_of(node))
    place = next(each for each in places if type(each) is GetSetDescriptorType)
    found: dict[str, Any] = place.__get__(node)
    return found
