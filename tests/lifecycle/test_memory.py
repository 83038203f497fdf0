"""What stays in memory: ops while something leads to them, saved values until a pass gives them up."""

from gradsan.lifecycle.simulator import play
from lifecycle.growth import growth
from lifecycle.lives import BACKWARD, NBYTES, op, plus, sin, tanh, times
from lifecycle.tensor_rules import Tape


def test_pass_gives_up_the_bytes_of_what_it_walked() -> None:
    """What another loss saved stays."""
    tape = Tape()
    w = tape.leaf("w")
    one, other = tanh(tape, w), tanh(tape, w)
    tape.hold("one", one)
    tape.hold("other", other)
    tape.walk(one)
    tape.walk(other)

    outcome = play(tape.life())

    assert [each.saved_bytes for each in outcome.kept] == [NBYTES, 0]
    assert outcome.peak_saved_bytes == 2 * NBYTES


def test_parameters_are_no_cost_of_a_graph() -> None:
    """They are there with or without one."""
    tape = Tape()
    tape.hold("loss", sin(tape, tape.leaf("w", 1_000_000)))

    assert play(tape.life()).left.saved_bytes == 0


def test_storage_saved_twice_counts_once() -> None:
    """Two ops may save one tensor."""
    tape = Tape()
    h = tanh(tape, tape.leaf("w"))
    tape.hold("loss", sin(tape, h))

    assert play(tape.life()).left.saved_bytes == NBYTES


def test_ops_live_while_a_name_leads_to_them() -> None:
    """The name need not hold the op itself: one built on it will do."""
    tape = Tape()
    h = tanh(tape, tape.leaf("w"))
    loss = tanh(tape, h)
    tape.hold("loss", loss)

    held = play(tape.life()).left
    tape.let_go("loss")
    released = play(tape.life()).left

    assert held.live == {op(h), op(loss)}
    assert released.live == frozenset()
    assert released.saved_bytes == 0


def test_consumed_ops_are_still_there() -> None:
    """A backward gives up saved values; the ops themselves stay while a name leads to them."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    tape.hold("loss", loss)
    tape.walk(loss)

    left = play(tape.life()).left

    assert left.live == {op(loss)}
    assert left.saving == frozenset()


def test_running_total_grows_by_its_losses() -> None:
    """`total = total + loss`: every step leaves one more graph behind."""
    tape = Tape()
    w = tape.leaf("w")
    total = tape.data(NBYTES)
    for _ in range(4):
        total = plus(tape, total, tanh(tape, w))
        tape.hold("total", total)
        tape.walk(tanh(tape, w), site=BACKWARD)
        tape.step("SGD", w)

    assert growth(play(tape.life())) == NBYTES


def test_growth_is_reported_per_optimizer() -> None:
    """Two optimizers that step at different heights of one plain step do not look like growth."""
    tape = Tape()
    w, v = tape.leaf("w"), tape.leaf("v")
    for _ in range(3):
        one, other = tanh(tape, w), tanh(tape, v)
        tape.hold("one", one)
        tape.hold("other", other)
        tape.walk(one)
        tape.step("first", w)
        tape.walk(other)
        tape.step("second", v)

    assert growth(play(tape.life())) == 0


def test_too_few_steps_show_no_growth() -> None:
    """One rise is no trend."""
    tape = Tape()
    w = tape.leaf("w")
    for step in range(2):
        tape.hold(f"losses[{step}]", times(tape, tanh(tape, w), tape.data(NBYTES)))
        tape.walk(tanh(tape, w))

    assert growth(play(tape.life())) == 0
