"""How many bytes the notes of gradsan hold: what a limit on memory is compared with."""

import gc
import sys
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from types import CellType, MethodType

_PLAIN = (str, bytes, int, float)
_HOLDERS = (tuple, list, dict, set, frozenset, deque, array, Counter, OrderedDict, defaultdict, CellType, MethodType)
_OURS = "gradsan."


def bytes_held(*roots: object) -> int:
    """By these, and by all that is reached through objects of gradsan's own and plain containers.

    Nothing of the program's is asked for its size or followed: not its code, its classes, or its tensors.
    """
    seen: set[int] = set()
    todo, total = list(roots), 0
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        kind = type(each)
        if kind in _PLAIN:
            total += sys.getsizeof(each)
        elif kind in _HOLDERS or _is_ours(kind):
            total += sys.getsizeof(each)
            todo.extend(gc.get_referents(each))
    return total


def _is_ours(kind: type) -> bool:
    module = kind.__dict__.get("__module__")
    return type(module) is str and module.startswith(_OURS)
