"""What each kind of change makes of a life."""

import pytest

from gradsan.lifecycle.events import Cleared, Held, Walked
from gradsan.lifecycle.fix_changes import Combine, Detach, NoGrad, Recompute, RemovePass, ResetState, Retain
from gradsan.lifecycle.life_edits import UnforeseeableError
from gradsan.lifecycle.simulator import play
from lifecycle.lives import NBYTES, edge, now, op, plus, port, sin, tanh, tanh_in_place, times
from lifecycle.other_changes import Clone, CreateGraph, DropRetain, MoveIntoLoop, Reattach, Reorder, ZeroGrad
from lifecycle.tensor_rules import Tape


def test_detach_takes_the_edge_and_what_was_saved_for_it() -> None:
    """`h.detach() * w` keeps h for w's gradient, and w for nobody."""
    tape = Tape()
    w, v = tape.leaf("w"), tape.leaf("v")
    h = tanh(tape, v)
    loss = times(tape, h, w)

    changed = Detach(frozenset({edge(loss, h)})).applied(tape.life())

    *_, product = changed.made()
    assert product.inputs == (None, port(w))
    assert [each.storage for each in product.saves] == [h.storage]


def test_detached_tensor_that_is_saved_keeps_no_history_alive() -> None:
    """The op saves the value without what led to it."""
    tape = Tape()
    h = tanh(tape, tape.leaf("v"))
    loss = times(tape, h, tape.leaf("w"))
    tape.hold("loss", loss)

    changed = Detach(frozenset({edge(loss, h)})).applied(tape.life())

    assert play(changed).left.live == {op(loss)}


def test_op_that_is_left_without_history_is_never_created() -> None:
    """An op on detached tensors alone is not recorded, nor what builds on it."""
    tape = Tape()
    h = tanh(tape, tape.leaf("w"))
    scaled = sin(tape, h)
    loss = sin(tape, scaled)
    tape.hold("loss", loss)

    changed = Detach(frozenset({edge(scaled, h)})).applied(tape.life())

    assert [made.id for made in changed.made()] == [op(h)]
    assert changed.events[-1] == Held("loss")


def test_detach_in_a_holders_hand_lets_the_graph_go() -> None:
    """`self.h = h.detach()`."""
    tape = Tape()
    tape.hold("self.h", tanh(tape, tape.leaf("w")))

    changed = Detach(holders=frozenset({"self.h"})).applied(tape.life())

    assert play(changed).left.live == frozenset()


def test_reset_cuts_as_detach_does() -> None:
    """They differ in the values: a reset computes something else."""
    tape = Tape()
    h = tanh(tape, tape.leaf("w"))
    loss = plus(tape, h, tape.leaf("v"))
    edges = frozenset({edge(loss, h)})

    assert ResetState(edges).applied(tape.life()) == Detach(edges).applied(tape.life())
    assert Detach(edges).keeps_values(tape.life())
    assert not ResetState(edges).keeps_values(tape.life())


def test_no_grad_makes_no_ops() -> None:
    """What builds on them finds no history."""
    tape = Tape()
    w = tape.leaf("w")
    target = tanh(tape, w)
    loss = plus(tape, sin(tape, w), target)

    changed = NoGrad(frozenset({op(target)})).applied(tape.life())

    assert op(target) not in {made.id for made in changed.made()}
    assert next(made for made in changed.made() if made.id == op(loss)).inputs[1] is None


def test_op_numbered_late_waits_for_no_op_that_is_gone() -> None:
    """A rebuilt view is numbered after the op that reads it; without that op, at once."""
    tape = Tape()
    h = sin(tape, tape.leaf("w"))
    (view,) = tape.view("ViewBackward0", h)
    tanh_in_place(tape, h)
    reader = tanh(tape, view)
    tape.walk(view)

    changed = NoGrad(frozenset({op(reader)})).applied(tape.life())

    assert [made.name for made in changed.numbered()][-1] == "AsStridedBackward0"


def test_reattach_restores_an_edge() -> None:
    """What was cut leads on again."""
    tape = Tape()
    h = tanh(tape, tape.leaf("w"))
    loss = plus(tape, tape.detach(h), tape.leaf("v"))

    changed = Reattach(frozenset({(op(loss), 0, port(h))})).applied(tape.life())

    *_, total = changed.made()
    assert total.inputs[0] == port(h)


def test_passes_are_asked_otherwise() -> None:
    """Retain, create a graph, drop the retain; other passes stay as they are."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    first, second = tape.walk(loss), tape.walk(loss, retain_graph=True)

    retained, _ = Retain(frozenset({first.id})).applied(tape.life()).passes()
    created, _ = CreateGraph(frozenset({first.id})).applied(tape.life()).passes()
    untouched, dropped = DropRetain(frozenset({second.id})).applied(tape.life()).passes()

    assert (retained.retains, created.retains, dropped.retains) == (True, True, False)
    assert untouched == first


def test_pass_that_makes_a_graph_retains_without_being_asked() -> None:
    """Dropping `retain_graph=True` beside `create_graph=True` frees nothing."""
    tape = Tape()
    asked = tape.walk(tanh(tape, tape.leaf("w")), retain_graph=True, create_graph=True)

    (dropped,) = DropRetain(frozenset({asked.id})).applied(tape.life()).passes()

    assert dropped.retains


def test_unknown_pass_is_refused() -> None:
    """A change of something that is not there predicts nothing."""
    with pytest.raises(UnforeseeableError, match="no passes"):
        Retain(frozenset({7})).applied(Tape().life())


def test_combined_losses_are_walked_once_in_the_last_place() -> None:
    """One pass with all roots."""
    tape = Tape()
    w = tape.leaf("w")
    one, other = tanh(tape, w), sin(tape, w)
    first, second = tape.walk(one), tape.walk(other)

    (combined,) = Combine(frozenset({first.id, second.id})).applied(tape.life()).passes()

    assert combined.id == second.id
    assert combined.roots == (port(one), port(other))


def test_term_without_history_does_not_spoil_a_sum() -> None:
    """`(loss + number).backward()` runs, where `number.backward()` raises."""
    tape = Tape()
    passes = tape.walk(tanh(tape, tape.leaf("w"))), tape.walk(tape.data())

    changed = Combine(frozenset(each.id for each in passes)).applied(tape.life())

    assert play(changed).failed is None


def test_removed_pass_is_not_run() -> None:
    """The rest stays."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    first, second = tape.walk(loss), tape.walk(loss)

    assert list(RemovePass(frozenset({first.id})).applied(tape.life()).passes()) == [second]


@pytest.mark.parametrize("move", [(3, 2), (2, 4)])
def test_events_change_places(move: tuple[int, int]) -> None:
    """Earlier or later: the pass before the step."""
    tape = Tape()
    w = tape.leaf("w")
    loss = tanh(tape, w)
    tape.hold("loss", loss)
    tape.step("SGD", w)
    asked = tape.walk(loss)

    changed = Reorder(*move).applied(tape.life())

    assert changed.events[2] == Walked(asked)


def test_nothing_is_walked_before_it_is_created() -> None:
    """An order that no program can have is refused."""
    tape = Tape()
    tape.walk(tanh(tape, tape.leaf("w")))

    with pytest.raises(UnforeseeableError, match="before they are made"):
        Reorder(moved=1, before=0).applied(tape.life())


def test_gradients_are_cleared_where_asked() -> None:
    """Also at the very end."""
    tape = Tape()
    w = tape.leaf("w")
    tape.walk(tanh(tape, w))

    changed = ZeroGrad((op(w),), frozenset({0, 2})).applied(tape.life())

    assert (changed.events[0], changed.events[-1]) == (Cleared((op(w),)), Cleared((op(w),)))


def test_edit_on_a_copy_leaves_the_saved_value_alone() -> None:
    """The old value and the new one are both in memory then."""
    tape = Tape()
    h = plus(tape, tape.leaf("w"), tape.data())
    saver = sin(tape, h)
    edit = now(tape) + 1
    tanh_in_place(tape, h)
    tape.hold("loss", plus(tape, saver, h))

    changed = Clone(frozenset({edit})).applied(tape.life())

    assert play(tape.life()).left.saved_bytes == NBYTES
    assert play(changed).left.saved_bytes == 2 * NBYTES


def test_copy_under_a_view_that_saw_the_edit_is_refused() -> None:
    """Would the program want the view to see it? The life does not say."""
    tape = Tape()
    h = plus(tape, tape.leaf("w"), tape.data())
    (view,) = tape.view("ViewBackward0", h)
    edit = now(tape) + 1
    tanh_in_place(tape, h)
    tanh(tape, view)

    with pytest.raises(UnforeseeableError, match="a view"):
        Clone(frozenset({edit})).applied(tape.life())


def test_ops_created_again_have_results_of_their_own() -> None:
    """What comes after builds on the new ones and saves the new values; the name is bound to them."""
    tape = Tape()
    w = tape.leaf("w")
    h = tanh(tape, w)
    tape.hold("h", h)
    before = now(tape)
    loss = sin(tape, h)
    tape.hold("loss", loss)

    changed = Recompute(frozenset({op(h)}), frozenset({before})).applied(tape.life())

    again, user = list(changed.made())[1:]
    assert again.inputs == (port(w),)
    assert user.below == (again.id,)
    assert {each.storage for each in user.saves} == {again.result} != {h.storage}
    assert play(changed).left.live == {again.id, op(loss)}


def test_view_created_again_is_a_view_of_the_same_storage() -> None:
    """`w.t()` has no memory of its own."""
    tape = Tape()
    w = tape.leaf("w", 1_000_000)
    (transposed,) = tape.view("TBackward0", w)
    before = now(tape)
    tape.hold("y", times(tape, tape.data(NBYTES), transposed))

    changed = Recompute(frozenset({op(transposed)}), frozenset({before})).applied(tape.life())

    assert play(changed).peak_saved_bytes == NBYTES


def test_view_left_behind_is_refused() -> None:
    """What is built on it would go on with the old value."""
    tape = Tape()
    h = tanh(tape, tape.leaf("w"))
    tape.view("ViewBackward0", h)

    with pytest.raises(UnforeseeableError, match="not made again itself"):
        Recompute(frozenset({op(h)}), frozenset({now(tape)})).applied(tape.life())


def test_edit_made_again_edits_what_was_created_again() -> None:
    """A forward with an op in place can be repeated as a whole, and not in halves."""
    tape = Tape()
    w = tape.leaf("w")
    h = plus(tape, w, tape.data())
    made = op(h)
    tanh_in_place(tape, h)
    before = now(tape)
    tape.walk(h)

    whole = Recompute(frozenset({made, op(h)}), frozenset({before})).applied(tape.life())

    assert play(whole).failed is None
    with pytest.raises(UnforeseeableError, match="in place"):
        Recompute(frozenset({op(h)}), frozenset({before})).applied(tape.life())


def test_ops_are_not_created_again_before_they_are_created() -> None:
    """There is nothing to repeat yet."""
    tape = Tape()
    h = tanh(tape, tape.leaf("w"))

    with pytest.raises(UnforeseeableError, match="before they are made"):
        Recompute(frozenset({op(h)}), frozenset({0})).applied(tape.life())


def test_ops_moved_into_a_loop_are_not_created_before_it() -> None:
    """A line is moved, not copied."""
    tape = Tape()
    w = tape.leaf("w")
    once = tanh(tape, w)
    tape.hold("once", once)
    rounds = []
    for _ in range(2):
        rounds.append(now(tape))
        tape.walk(sin(tape, once))

    changed = MoveIntoLoop(frozenset({op(once)}), frozenset(rounds)).applied(tape.life())

    assert [made.name for made in changed.made()] == ["TanhBackward0", "SinBackward0"] * 2
    assert op(once) not in {made.id for made in changed.made()}
