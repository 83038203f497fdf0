"""What was filled for one pass, or is reset for others: it was forgotten, and means nothing to the next iteration."""

from gradsan.fix.reading.collected import collected, filled_by_hooks
from gradsan.fix.reading.emptied_lists import emptied_beside
from gradsan.fix.reading.program import Program
from gradsan.fix.reading.resets import is_reset_elsewhere


def is_filled_for_one_pass(program: Program) -> bool:
    """Whether it is a list, or the program empties others like it, or goes over it with others above its pass."""
    culprit = program.diagnosis.culprit
    if culprit is None:
        return False
    is_seen = emptied_beside(program) is not None or collected(program, culprit.name) is not None
    held = program.live.alive.held
    return is_seen or (held is not None and held.is_always("list"))


def _is_filled_by_hooks(program: Program) -> bool:
    """Whether forward hooks fill it: what they have kept is for one forward, and the next one fills it again."""
    name = program.name
    return name is not None and name.rpartition(".")[2] in filled_by_hooks(program) and is_filled_for_one_pass(program)


def was_to_begin_again(program: Program) -> bool:
    """Whether the program resets it elsewhere, or empties what lies beside it, or hooks fill it for each forward."""
    return emptied_beside(program) is not None or is_reset_elsewhere(program) or _is_filled_by_hooks(program)
