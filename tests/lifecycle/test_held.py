"""What a name may hold is one value, and survives the notes of a trial."""

import msgspec
import pytest

from gradsan.facts.held import NONE, NUMBER, SOMETHING, TENSOR, Held, container, record

SEVERAL = {
    "tensor": TENSOR,
    "tuple of tensor": container("tuple", [TENSOR]),
    "list of tuple of tensor": container("list", [container("tuple", [TENSOR])]),
    "named tuple": container("named tuple", [TENSOR]),
    "record h c": record(["h", "c"]),
    "frozen record h": record(["h"], frozen=True),
    "number or tensor": NUMBER | TENSOR,
    "tuple of (tensor or tuple of (tensor or None))": container("tuple", [TENSOR, container("tuple", [TENSOR, NONE])]),
    "record h c or None": record(["h", "c"]) | NONE,
    "list": container("list", []),
    "something": SOMETHING,
}


@pytest.mark.parametrize(("text", "held"), SEVERAL.items(), ids=SEVERAL)
def test_value_is_shown_in_words_and_read_back_as_it_was(text: str, held: Held) -> None:
    """A file beside the report brings it from a trial to the edits."""
    assert str(held) == text
    assert msgspec.json.decode(msgspec.json.encode(held), type=Held) == held


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
