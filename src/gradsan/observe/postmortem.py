"""What was wrong with a pass that PyTorch stopped, read from the live graph and the notes, while both are there."""

from gradsan.facts.incident import Donated, Incident, PassFact, ReadAfterFree, Stack, WithoutHistory
from gradsan.observe.failure.edited import edited
from gradsan.observe.failure.scene import Scene, pass_fact
from gradsan.observe.failure.second_pass import second_pass
from gradsan.observe.passes import Passes

FREED = "Trying to backward through the graph a second time"
EDITED = "has been modified by an inplace operation"
DONATED = "compiled with non-empty donated buffers"
WITHOUT_GRAPH = "does not require grad and does not have a grad_fn"


def examine(message: str, scene: Scene) -> Incident | None:
    """What kind of failure it was, with its facts; None: gradsan does not explain that kind, or not enough is known."""
    if FREED in message:
        return second_pass(scene)
    if EDITED in message:
        return edited(message, scene)
    if DONATED in message:
        return Donated(pass_fact(scene.note))
    if WITHOUT_GRAPH in message:
        return WithoutHistory(pass_fact(scene.note))
    return None


def examine_raised(message: str, passes: Passes, stack: Stack, number: int | None) -> ReadAfterFree | None:
    """An error that came from no pass: saved values of a freed op were read. `number`: the op's; None: not known."""
    if FREED not in message:
        return None
    freeing = [each for each in passes.all() if not each.retains and not each.failed and each.thread == passes.thread]
    reader = PassFact("backward", retains=False, stack=stack, step=1, begin=0)
    first = next((each for each in freeing if number is not None and each.walks(number)), None)
    if first is not None:
        return ReadAfterFree(reader, pass_fact(first), proved=first.seen)
    return ReadAfterFree(reader, pass_fact(freeing[-1]) if freeing else None)
