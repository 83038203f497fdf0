"""What an object is and what it holds, without asking it: nothing of the user's is run.

`isinstance` reads `__class__`, and every way to `__dict__` reads that of the class: both may be properties (of proxies,
mocks, lazy modules) that answer by doing things. And a metaclass may say what `==`, `hash` and `__dict__` of a class
are: to find one among others, they are distinguished by their ids.
"""

from collections import deque
from collections.abc import Mapping
from itertools import islice
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any


def lineage_of(each: object) -> tuple[type, ...]:
    """The classes of an object, its own first."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(type(each))
    return found


def is_one(each: object, kind: type) -> bool:
    """Whether an object is of a class, or of one derived from it."""
    return issubclass(type(each), kind)


def ids(*kinds: type) -> frozenset[int]:
    """Of some classes, to look up the id of another."""
    return frozenset(map(id, kinds))


def namespace_of(kind: type) -> Mapping[str, Any]:
    """What lies in a class itself."""
    found: Mapping[str, Any] = type.__dict__["__dict__"].__get__(kind)
    return found


def named_attributes(each: object) -> list[tuple[str, Any]]:
    """Those whose names are plain texts: a key of another class may do things when it is compared."""
    return [item for item in list((attributes_of(each) or {}).items()) if type(item[0]) is str]


def attributes_of(each: object) -> dict[str, Any] | None:
    """The attributes that lie in an object itself; None where it has no such place, or a class has taken it."""
    for kind in lineage_of(each):
        place = namespace_of(kind).get("__dict__")
        if place is not None:
            is_plain = type(place) in {GetSetDescriptorType, MemberDescriptorType}
            found = place.__get__(each) if is_plain else None
            return found if type(found) is dict else None
    return None


def ends_of(each: Any, most: int) -> list[tuple[Any, Any]]:  # noqa: ANN401 # whatever the program holds
    """The items of a plain container with their keys or positions, `most` at most, from both ends.

    The rest is not even counted through: a program may hold millions.
    """
    half = most // 2
    if is_one(each, dict):
        pairs = dict.items(each)
        if len(pairs) > most:
            return [*islice(pairs, half), *list(islice(reversed(pairs), half))[::-1]]
        return list(pairs)
    if is_one(each, set) or is_one(each, frozenset):
        members = (set if is_one(each, set) else frozenset).__iter__(each)
        return [(None, member) for member in islice(members, most)]
    kind: Any = next((kind for kind in (list, tuple, deque) if is_one(each, kind)), None)
    if kind is None:
        return []
    size = kind.__len__(each)
    if size <= most:
        return list(enumerate(kind.__iter__(each)))
    first, last = islice(kind.__iter__(each), half), slice(size - half, size)
    latter = list(islice(deque.__reversed__(each), half))[::-1] if kind is deque else kind.__getitem__(each, last)
    return [*enumerate(first), *enumerate(latter, size - half)]
