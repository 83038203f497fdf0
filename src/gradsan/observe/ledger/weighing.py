"""What saved values weigh that are alive at once, estimated where the program is looked through anyway."""

from collections.abc import Iterable, Sequence

from gradsan.observe.graph import Node, about_bytes, reach, saves_values
from gradsan.observe.graph_snapshot import Look
from gradsan.observe.notes import PassNote
from gradsan.observe.private import NO_NUMBER

_OPS = 20_000  # that are walked


def live_bytes(roots: Iterable[Node], since: int, passes: Sequence[PassNote], retained: Sequence[Look]) -> int:
    """About what the ops below these roots have saved and not freed.

    Made before op `since` counts what passes are known to have `retained`; of what is newer, all that none has freed.
    """
    freeing = [each for each in passes if not each.retains and each.begin >= since]
    total = 0
    for node in reach(roots, _OPS):
        number = node._sequence_nr()  # noqa: SLF001 # creation_number() costs a call more
        if number == NO_NUMBER:
            continue
        is_kept = any(each.walks(number) for each in (retained if number < since else freeing))
        if saves_values(node) and is_kept == (number < since):
            total += about_bytes(node)
    return total
