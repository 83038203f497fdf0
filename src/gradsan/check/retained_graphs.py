"""Passes that keep their graph, and whether a later one has a use for it."""

from collections.abc import Iterator

from gradsan.check.graph import UNKNOWN, Op, Pass
from gradsan.check.old_part import below
from gradsan.check.world import World


def retained(world: World, kept: frozenset[Op], *, closed: bool) -> Iterator[tuple[Pass, bool]]:
    """The passes that are to keep a graph of which something is known, and whether that is needed."""
    for done in world.passes:
        if done.keeps and not _is_unknown(done) and _is_followed(done, world):
            yield done, _is_walked_after(done, world) or (not closed and _is_held(done, kept))


def _is_walked_after(done: Pass, world: World) -> bool:
    """Whether a later pass walks some of it, or may: nothing is known of what it walks."""
    if any(other.number > done.number for op in done.ops for other in op.walked):
        return True
    handed_over = below([op for number, op in world.handed_over if number > done.number])
    later = (each for each in world.passes if each.number > done.number and each.site.node is not done.site.node)
    return not handed_over.isdisjoint(done.ops) or any(map(_is_unknown, later))


def _is_followed(done: Pass, world: World) -> bool:
    """Whether it was seen what the next pass of the same line comes to, where a loop leads there again."""
    same = [each for each in world.passes if each.site.node is done.site.node]
    return not done.moment or len(same) > 1


def _is_unknown(done: Pass) -> bool:
    """Whether nothing but the pass shows some of what it walks."""
    return done.is_open or any(op.name == UNKNOWN for op in done.ops)


def _is_held(done: Pass, kept: frozenset[Op]) -> bool:
    return any(op in kept or op.escaped for op in done.ops)
