"""Room on the stack for a deep graph that was walked.

From torch 2.13 on, an op that Python has seen once keeps its Python object as long as it lives, and a chain of such ops
is destroyed by recursion, some 250 bytes an op: 35,000 in a row overflow the usual stack, and the process dies. What
nobody has looked at is destroyed in a loop. To walk a graph is to look at it, so whoever walks a deep one makes room.
"""

from contextlib import suppress

_DEEP = 10_000  # ops, of which the usual stack holds three times as many
_ROOM = 120 << 20  # bytes; Linux keeps at least 128 MiB free below the stack of the main thread


def make_room(ops: int) -> None:
    """Let the main thread's stack grow, where a graph of so many ops may be deep. The limit is read as it grows."""
    if ops < _DEEP:
        return
    with suppress(ImportError, OSError, ValueError):  # another system, or a limit that may not be raised
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
        wanted = _ROOM if hard == resource.RLIM_INFINITY else min(_ROOM, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
