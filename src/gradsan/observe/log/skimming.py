"""Most blocks of a long run are iterations of one loop: those are counted, and only the last of them is followed."""

from gradsan.observe.log.activations import Activation, Machine
from gradsan.observe.log.sites import Code, Kind, Sites
from gradsan.observe.log.source_loops import Loop


def skim(machine: Machine, sites: Sites, block: list[int], following: tuple[int, ...]) -> int:
    """Count the iterations of the outermost loop that goes round in a block; answers from which event on to follow it.

    All that is live after the last of these iterations began was begun in it. `block` has the sites of the events, and
    `following` the stack at its end. 0: the block has to be followed from its beginning.
    """
    by_code: dict[Code, list[tuple[Kind, int]]] = {}
    for site in set(block):
        kind, code, line = sites.table[site]
        by_code.setdefault(code, []).append((kind, line))
    codes = [each.code for each in machine.stack]
    for depth, activation in enumerate(machine.stack):
        events = None if activation.code is None else by_code.get(activation.code)
        if activation.code is None or events is None:  # it waits for what it called
            continue
        is_there_after = depth <= len(following) and sites.table[following[depth - 1]][1] is activation.code
        is_one_call = codes.count(activation.code) == 1 and all(kind is Kind.LINE for kind, _ in events)
        loop = _outermost(activation, [line for _, line in events])
        track = None if loop is None else activation.track_of(loop)
        if loop is None or track is None or not is_there_after or not is_one_call:
            return 0
        header = sites.line_site(activation.code, loop.header)
        last = len(block) - 1 - block[::-1].index(header)
        track.iterations += block.count(header) - 1  # the last is yet to be followed
        activation.line, activation.calls = loop.last, None
        del machine.stack[depth + 1 :]
        return last
    return 0


def _outermost(activation: Activation, lines: list[int]) -> Loop | None:
    """The outermost loop of a call that begins iterations at these lines, if the call stays in it all the while."""
    every = sorted({each for loops in activation.headers.values() for each in loops}, key=lambda each: each.header)
    loop = next((each for each in every if each.header in lines), None)
    if loop is None or activation.awaiting is not None or loop.body == loop.header:
        return None
    is_one_header = all(line == loop.header for line in lines if loop.heads(line))
    stays = all(map(loop.holds, (activation.line, *lines)))
    return loop if is_one_header and stays else None
