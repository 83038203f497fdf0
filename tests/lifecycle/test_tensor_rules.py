"""How tensors write a graph."""

import pytest

from gradsan.lifecycle.events import Created, Edited, Held
from gradsan.lifecycle.simulator import play
from lifecycle.lives import op, port, sin, tanh, tanh_in_place
from lifecycle.tensor_rules import Tape


def test_op_on_data_is_not_recorded() -> None:
    """Without a parameter below there is no history."""
    tape = Tape()

    assert tanh(tape, tape.data()).history is None
    assert tape.life().events == ()


def test_nothing_is_recorded_under_no_grad() -> None:
    """And everything is again behind it."""
    tape = Tape()
    w = tape.leaf("w")
    with tape.no_grad():
        inside = tanh(tape, w)

    assert inside.history is None
    assert tanh(tape, w).history is not None


def test_view_shares_storage_and_version_counter() -> None:
    """An edit through the view is an edit of the base."""
    tape = Tape()
    h = tanh(tape, tape.leaf("w"))
    (view,) = tape.view("ViewBackward0", h)
    with tape.no_grad():
        tape.edit("ZeroBackward0", view)
    tape.walk(h)

    failed = play(tape.life()).failed

    assert failed is not None
    assert failed.failure is not None
    assert failed.failure.reason == "edited"


def test_one_op_may_make_several_views() -> None:
    """`unbind`: one op, an output for each."""
    tape = Tape()
    first, second = tape.view("UnbindBackward0", tanh(tape, tape.leaf("w")), outputs=2)

    assert op(first) == op(second)
    assert (port(first).output, port(second).output) == (0, 1)


def test_edit_in_place_gives_the_tensor_another_history() -> None:
    """The op is there first, then the version counter goes up."""
    tape = Tape()
    h = sin(tape, tape.leaf("w"))
    before = op(h)
    tape_length = len(tape.life().events)
    tanh_in_place(tape, h)

    made, edited = tape.life().events[tape_length:]

    assert isinstance(made, Created)
    assert made.op.below == (before,)
    assert edited == Edited(h.counter)
    assert op(h) == made.op.id


def test_view_of_an_edited_tensor_is_rebuilt_when_it_is_read() -> None:
    """It then leads to the edit."""
    tape = Tape()
    h = sin(tape, tape.leaf("w"))
    (view,) = tape.view("ViewBackward0", h)
    tanh_in_place(tape, h)

    assert tape.is_outdated(view)

    rebuilt = tape.read(view)

    assert rebuilt is not None
    assert [made.below for made in tape.life().made() if made.id == rebuilt.node] == [(op(h),)]


def test_holder_of_an_edited_tensor_holds_its_new_history() -> None:
    """A name holds the tensor, whatever its history has become."""
    tape = Tape()
    h = sin(tape, tape.leaf("w"))
    tape.hold("h", h)
    tanh_in_place(tape, h)

    assert tape.life().events[-1] == Held("h", (op(h),))


def test_only_a_leaf_can_be_stepped() -> None:
    """An optimizer refuses anything else."""
    tape = Tape()

    with pytest.raises(ValueError, match="only a leaf"):
        tape.step("SGD", tanh(tape, tape.leaf("w")))
