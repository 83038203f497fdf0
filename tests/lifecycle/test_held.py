"""What a name may hold is one value, and survives the text of a report."""

import pytest

from gradsan.facts.held import NONE, NUMBER, SOMETHING, TENSOR, container, parsed, record

TEXTS = [
    "tensor",
    "tuple of tensor",
    "list of tuple of tensor",
    "named tuple",
    "record h c",
    "frozen record h",
    "deque of tensor",
    "dict of list of tensor",
    "tensor or None",
    "number or tensor",
    "list of (number or tensor)",
    "tuple of (tensor or tuple of (tensor or None))",
    "record h c or None",
    "list",
    "something",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_read_as_what_was_written(text: str) -> None:
    """The evidence of a report is the only way from a run to the edits."""
    assert str(parsed(text)) == text


def test_text_of_another_version_is_something() -> None:
    """Nothing is guessed of it."""
    assert parsed("a quantity of unknown kind") == SOMETHING
    assert not parsed("tuple of wishes").is_known


def test_forms_of_two_paths_are_both_kept() -> None:
    """None in the first step, a tensor in all others."""
    assert str(NONE | TENSOR) == "tensor or None"
    assert str(TENSOR | TENSOR) == "tensor"
    assert (TENSOR | SOMETHING).known_forms() == TENSOR


def test_containers_of_one_kind_become_one() -> None:
    """A list that begins empty, and a tuple that has a counter beside its tensors."""
    assert str(container("list", []) | container("list", [TENSOR])) == "list of tensor"
    assert str(container("tuple", [NUMBER, TENSOR])) == "tuple of (number or tensor)"
    assert str(container("list", [TENSOR]) | container("tuple", [TENSOR])) == "list of tensor or tuple of tensor"


def test_object_without_tensors_is_something() -> None:
    """There is nothing in it that an edit could name."""
    assert record([]) == SOMETHING
