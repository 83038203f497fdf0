"""What an object is and holds, read without running anything of the program's."""

from typing import Any

import pytest

from gradsan.observe.unasked import attributes_of, is_one


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
