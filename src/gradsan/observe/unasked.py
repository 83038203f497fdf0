"""What an object is and what it holds, without asking it: nothing of the user's is run.

`isinstance` reads `__class__`, and every way to `__dict__` reads that of the class: both may be properties (of proxies,
mocks, lazy modules) that answer by doing things. And a metaclass may say what `==`, `hash` and `__dict__` of a class
are: to find one among others, they are distinguished by their ids.
"""

from collections.abc import Mapping
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
