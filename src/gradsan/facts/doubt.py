"""How sure a fact is, whoever filled it in: what was seen or proved, what is likely, what may as well not be so."""

SURE, LIKELY, DOUBTFUL = 0, 1, 2


def weighed(doubt: int, *, guarded: bool) -> int:
    """What hangs on a branch that was only assumed to be taken is likely at best."""
    return max(doubt, LIKELY) if guarded else doubt
