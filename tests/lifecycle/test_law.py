"""The law of freeing: what a pass runs, frees and reaches, and where it fails."""

import pytest

from gradsan.lifecycle.engine import Failure, Walk
from gradsan.lifecycle.simulator import play
from lifecycle.lives import op, plus, port, sin, tanh, times
from lifecycle.tensor_rules import Save, Tape, Tensor


def walks(tape: Tape) -> tuple[Walk, ...]:
    """What every pass of a program that catches its errors did."""
    return play(tape.life(), caught=True).walks


def test_walking_a_consumed_op_raises() -> None:
    """A pass frees what its ops saved; the next one finds nothing."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    tape.walk(loss)
    tape.walk(loss)

    first, second = walks(tape)

    assert first.failure is None
    assert second.failure == Failure("freed", op(loss))


def test_op_that_saved_nothing_can_be_walked_again() -> None:
    """Not every second backward raises."""
    tape = Tape()
    w = tape.leaf("w")
    total = plus(tape, w, w)
    tape.walk(total)
    tape.walk(total)

    assert play(tape.life()).failed is None


def test_retained_graph_can_be_walked_again() -> None:
    """`retain_graph=True` frees nothing."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    tape.walk(loss, retain_graph=True)
    tape.walk(loss)
    tape.walk(loss)

    assert [each.failure is not None for each in walks(tape)] == [False, False, True]


@pytest.mark.parametrize(("retain_graph", "fails"), [(None, False), (True, False), (False, True)])
def test_create_graph_implies_retain_unless_asked_otherwise(retain_graph: bool | None, fails: bool) -> None:  # noqa: FBT001 # ditto
    """`create_graph=True, retain_graph=False` frees."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    tape.walk(loss, create_graph=True, retain_graph=retain_graph)
    tape.walk(loss)

    assert (play(tape.life()).failed is not None) is fails


def test_backward_with_inputs_runs_and_frees_the_inputs_own_op() -> None:
    """`backward(inputs=[h])` walks through h's op, and nothing below it."""
    tape = Tape()
    below = tanh(tape, tape.leaf("w"))
    h = tanh(tape, below)
    loss = tanh(tape, h)
    tape.walk(loss, inputs=(h,))

    (walked,) = walks(tape)

    assert walked.executed == (op(loss), op(h))
    assert walked.received.keys() == {port(h)}


def test_autograd_grad_leaves_the_inputs_own_op_alone() -> None:
    """`autograd.grad(loss, h)` frees only what lies above h."""
    tape = Tape()
    h = tanh(tape, tape.leaf("w"))
    loss = tanh(tape, h)
    tape.walk(loss, inputs=(h,), accumulates=False)
    tape.walk(h)

    by_grad, by_backward = walks(tape)

    assert by_grad.executed == (op(loss),)
    assert by_backward.failure is None


def test_autograd_grad_raises_for_an_input_that_was_not_used() -> None:
    """Unless `allow_unused=True`."""
    tape = Tape()
    w, other = tape.leaf("w"), tape.leaf("other")
    loss = tanh(tape, w)
    tape.walk(loss, inputs=(other,), accumulates=False, allows_unused=False)

    (walked,) = walks(tape)

    assert walked.failure == Failure("unused")


def test_several_roots_are_walked_in_one_pass() -> None:
    """What they share runs once, after both."""
    tape = Tape()
    shared = tanh(tape, tape.leaf("w"))
    one, other = tanh(tape, shared), tanh(tape, shared)
    tape.walk(one, other)

    (walked,) = walks(tape)

    assert walked.executed == (op(other), op(one), op(shared))


def test_tensor_without_history_cannot_be_walked() -> None:
    """`does not require grad`."""
    tape = Tape()
    tape.walk(tape.detach(tanh(tape, tape.leaf("w"))))

    (walked,) = walks(tape)

    assert walked.failure == Failure("no-history")


def test_detach_ends_a_pass() -> None:
    """Below it nothing runs, nothing is freed, and no leaf receives a gradient."""
    tape = Tape()
    w, v = tape.leaf("w"), tape.leaf("v")
    below = tanh(tape, w)
    loss = times(tape, tape.detach(below), v)
    tape.walk(loss)
    tape.walk(below)

    first, second = walks(tape)

    assert first.received.keys() == {port(v)}
    assert second.failure is None


def test_leaf_collects_the_gradients_of_all_passes() -> None:
    """Two passes give the sum of what each gives alone."""
    tape = Tape()
    w = tape.leaf("w")
    for _ in range(2):
        tape.walk(tanh(tape, w))

    outcome = play(tape.life())

    alone = [each.received[port(w)] for each in outcome.walks]
    assert outcome.gradients == {op(w): sum(alone) % (2**61 - 1)}


def test_saved_value_that_was_edited_raises() -> None:
    """`modified by an inplace operation`, at the op that saved it."""
    tape = Tape()
    x = tanh(tape, tape.leaf("w"))
    loss = sin(tape, x)
    tape.edit("MulBackward0", x)
    tape.walk(loss)

    (walked,) = walks(tape)

    assert walked.failure == Failure("edited", op(loss))


def test_edit_of_a_detached_alias_is_noticed() -> None:
    """A detached tensor shares storage and version counter."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    tape.edit("ZeroBackward0", tape.detach(loss))
    tape.walk(loss)

    (walked,) = walks(tape)

    assert walked.failure == Failure("edited", op(loss))


def test_edit_through_data_is_not_noticed() -> None:
    """`tensor.data` counts its edits apart."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    tape.edit("ZeroBackward0", tape.bare(loss))
    tape.walk(loss)

    assert play(tape.life()).failed is None


def test_step_edits_the_parameters_that_have_a_gradient() -> None:
    """One without a gradient is left alone, and so are the values saved of it."""

    def training(*, trained: bool) -> tuple[Tape, Tensor]:
        tape = Tape()
        w = tape.leaf("w")
        late = sin(tape, w)
        if trained:
            tape.walk(tanh(tape, w))
        tape.step("SGD", w)
        tape.walk(late)
        return tape, late

    tape, late = training(trained=True)
    untrained, _ = training(trained=False)

    assert walks(tape)[-1].failure == Failure("edited", op(late))
    assert walks(untrained)[-1].failure is None


def test_failing_pass_has_freed_what_it_ran_before() -> None:
    """What is freed now was not freed before."""
    tape = Tape()
    w = tape.leaf("w")
    shared = tanh(tape, w)
    tape.walk(shared)
    fresh = tanh(tape, shared)
    tape.walk(fresh)
    tape.walk(fresh)

    _, second, third = walks(tape)

    assert second.frees == (op(fresh),)
    assert second.failure == Failure("freed", op(shared))
    assert third.failure == Failure("freed", op(fresh))


def test_failing_pass_leaves_ops_in_the_engines_queue() -> None:
    """They live until the next pass, although no name leads to them."""
    tape = Tape()
    w = tape.leaf("w")
    older = tanh(tape, w)
    consumed = tanh(tape, w)
    tape.walk(consumed)
    tape.walk(older, consumed)
    tape.walk(tanh(tape, w))

    outcome = play(tape.life(), caught=True)

    assert outcome.walks[1].left == (op(older),)
    assert [op(older) in each.live for each in outcome.kept] == [True, True, False]


def test_custom_function_that_reads_its_saved_tensors_runs_once_even_if_it_saved_none() -> None:
    """`ctx.saved_tensors` is gone after the first pass, whether or not something was in it."""
    tape = Tape()
    loss = tape.apply("BareBackward", tape.leaf("w"), gives_up_more=True)
    tape.walk(loss)
    tape.walk(loss)

    assert walks(tape)[-1].failure == Failure("freed", op(loss))


def test_value_is_saved_only_where_its_gradient_is_asked_for() -> None:
    """`x * w` with data x saves x alone: without history there is no gradient of x to keep w for."""
    tape = Tape()
    w, x = tape.leaf("w"), tape.data()
    tape.apply("MulBackward0", x, w, saves=(Save(w, 0), Save(x, 1)))

    (made,) = tape.life().made()

    assert [each.storage for each in made.saves] == [x.storage]
