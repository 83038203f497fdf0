"""What an object is and holds, read without running anything of the program's."""

from collections import OrderedDict, deque
from typing import Any, NoReturn

import pytest

from gradsan.observe.unasked import attributes_of, ends_of, is_one


class Proxy:
    """It answers by doing things."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # noqa: ANN401 # whatever it stands for
        pytest.fail("asked for its class")

    @property
    def __dict__(self) -> Any:  # type: ignore[override] # noqa: ANN401 # as above
        pytest.fail("asked for its attributes")


class Plain:
    """As most are."""

    def __init__(self) -> None:
        self.held = 1


class Slotted:
    """It has no place for attributes."""

    __slots__ = ("held",)


def test_proxy_is_not_asked() -> None:
    """Neither for what it is, nor for what it holds."""
    assert not is_one(Proxy(), int)
    assert attributes_of(Proxy()) is None


def test_attributes_are_those_of_the_object_itself() -> None:
    """Whatever its class derives from; the dict is the object's own."""
    derived = type("Derived", (Plain,), {"of_the_class": 2})()

    assert attributes_of(derived) == {"held": 1}
    assert attributes_of(pytest) is vars(pytest)
    assert attributes_of(Slotted()) is attributes_of(3) is None
    assert is_one(derived, Plain)


class Counted(list[int]):
    """Its class says how long it is and what is in it."""

    def _fail(self, *_: object) -> NoReturn:
        pytest.fail("asked for what is in it")

    __len__ = __iter__ = __getitem__ = _fail


@pytest.mark.parametrize("container", [list, tuple, deque, Counted])
def test_ends_of_a_sequence_have_their_positions(container: type) -> None:
    """All of a short one, and of a long one both ends."""
    assert ends_of(container("abcd"), 4) == [(0, "a"), (1, "b"), (2, "c"), (3, "d")]
    assert ends_of(container("abcdefg"), 4) == [(0, "a"), (1, "b"), (5, "f"), (6, "g")]


@pytest.mark.parametrize("container", [dict, OrderedDict])
def test_ends_of_a_dict_have_their_keys(container: type) -> None:
    """In the order in which they were put there."""
    pairs = [(letter, letter.upper()) for letter in "abcdefg"]

    assert ends_of(container(pairs[:4]), 4) == pairs[:4]
    assert ends_of(container(pairs), 4) == [*pairs[:2], *pairs[-2:]]


@pytest.mark.parametrize("container", [set, frozenset])
def test_members_of_a_set_have_no_place(container: type) -> None:
    """Some of a long one; and what is no container has none."""
    assert sorted(ends_of(container("ab"), 4)) == [(None, "a"), (None, "b")]
    assert len(ends_of(container("abcdefg"), 4)) == 4
    assert ends_of(3, 4) == ends_of("abc", 4) == []
