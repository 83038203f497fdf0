"""What two runs gave to their optimizers, compared."""

from collections.abc import Sequence

from gradsan.fix.judging.given_compared import Steps, cut_off, difference, starves, trained_once

NAMES = {0: ["body.weight", "head.weight"]}


def ended(*gradients: Sequence[list[float] | None], random: int = 0) -> Steps:
    """A run whose only optimizer was given these, step after step."""
    return [{"optimizer": 0, "gradients": each, "random": random, "last": False} for each in gradients]


def said(ours: Steps, theirs: Steps) -> str | None:
    """How the difference reads."""
    found = difference(ours, theirs, NAMES)
    return None if found is None else f"step {found.step}: {found.what}"


def test_gradients_are_compared_step_by_step() -> None:
    """A little rounding is allowed, and the parameter that differs most is named, in numbers."""
    one, close, other = [[1.0, 0.5], [3.0, 1.0]], [[1.0 + 1e-7, 0.5], [3.0, 1.0]], [[1.0, 0.5], [1.0, 1.0]]

    assert said(ended([*one]), ended([*close])) is None
    assert said(ended([*one], [*other]), ended([*one], [*one])) == (
        "step 2: `head.weight` is given 0.333 times the gradient that is meant"
    )


def test_small_gradient_beside_a_large_one_is_compared_too() -> None:
    """A bias is not lost in the rounding of a weight a thousand times as large."""
    ours, theirs = ended([[1000.0, 5.0], [1.0, 0.1]]), ended([[1000.0, 5.0], [2.0, 0.1]])

    assert said(ours, theirs) == "step 1: `head.weight` is given 0.5 times the gradient that is meant"


def test_no_gradient_is_as_good_as_one_of_zeros() -> None:
    """What is cut off in a reference run is given zeros."""
    assert said(ended([[1.0, 0.5], None]), ended([[1.0, 0.5], [0.0, 0.0]])) is None
    assert (
        said(ended([[1.0, 0.5], None]), ended([[1.0, 0.5], [2.0, 0.0]])) == "step 1: `head.weight` is given no gradient"
    )


def test_other_random_numbers_are_distinguished_from_other_gradients() -> None:
    """After those, nobody can say that the programs differ in what they train."""
    ours, theirs = ended([[1.0, 0.5]], random=1), ended([[2.0, 0.5]], random=2)

    found = difference(ours, theirs, NAMES)

    assert found is not None
    assert found.after_other_draws


def test_parameter_that_is_no_longer_trained_is_named() -> None:
    """It had a gradient in the program as it was."""
    before, now = ended([[1.0, 1.0], [1.0, 1.0]]), ended([[1.0, 1.0], None])

    assert cut_off(now, before, NAMES) == ["head.weight"]
    assert cut_off(before, now, NAMES) == []


def test_parameter_that_only_the_first_step_trains_is_named() -> None:
    """As one whose values were computed once and detached; one that is trained every other time is not."""
    both, one, other = [[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], None], [None, [1.0, 1.0]]

    assert trained_once(ended(both, one, one), [], NAMES) == ["head.weight"]
    assert trained_once(ended(one, one), ended(both), NAMES) == ["head.weight"]
    assert trained_once(ended(both, one, other), [], NAMES) == []
    assert trained_once(ended(both), [], NAMES) == []


def test_step_that_is_given_nothing_is_noticed() -> None:
    """A reference that cuts off all there is to train is none."""
    nothing, some = [None, [0.0, 0.0]], [None, [1.0, 1.0]]

    assert starves(ended(some, nothing))
    assert not starves(ended(some, some))
