"""The watching of a long job has a budget: what is spent beyond it is earned again by resting."""

import pytest
import torch

from gradsan.entry.production import BadBudgetError, share_of
from gradsan.observe.attention import Attention
from gradsan.observe.ledger.book import Ledger
from gradsan.observe.ledger.budget import WholeBudget
from gradsan.observe.sanitizer import Sanitizer


class Clock:
    """Stands still until it is told otherwise."""

    now = 0.0

    def __call__(self) -> float:
        """What it shows."""
        return self.now


def test_rest_lasts_until_the_share_is_kept() -> None:
    """Two seconds beyond what is granted, at half a percent, are four hundred seconds of the job."""
    clock = Clock()
    budget = WholeBudget(0.005, clock)
    budget._spent = 3.0  # noqa: SLF001 # of a second that is granted
    clock.now = 100.0

    steps = budget.steps_to_rest(so_far=1000)  # ten a second

    assert steps == 3000
    clock.now += steps / 10
    assert budget.debt == pytest.approx(0.0)
    assert budget.steps_to_rest(so_far=4000) in (0, 1)


def test_nothing_is_rested_for_while_there_is_time_left() -> None:
    """But for the pause that every ledger makes."""
    attention = Attention(0.005, Clock())

    assert not attention.is_spent
    attention.wake()
    attention.rest(2, so_far=1000)
    attention.step_goes_by()
    assert not attention.is_on
    attention.step_goes_by()
    assert attention.is_on


def test_work_is_charged_whatever_becomes_of_it() -> None:
    """An error is no discount."""
    attention = Attention(0.005, Clock())

    def work() -> None:
        sum(range(1_000_000))
        raise KeyError

    with pytest.raises(KeyError):
        attention.charge(work)

    assert attention._budget is not None  # noqa: SLF001 # its own
    assert attention._budget.debt > -WholeBudget.grant  # noqa: SLF001 # likewise


@pytest.mark.parametrize(("budget", "share"), [("0.5%", 0.005), (" 2 %", 0.02), (0.01, 0.01), (".25%", 0.0025)])
def test_budget_is_a_share(budget: str | float, share: float) -> None:
    """As people write it."""
    assert share_of(budget) == pytest.approx(share)


@pytest.mark.parametrize("budget", ["", "5", "90%", "-1%", 0, 1.5, True, "0%", float("nan")])
def test_what_is_no_share_is_refused(budget: str | float) -> None:
    """With one that is."""
    with pytest.raises(BadBudgetError, match=r"is no budget; give a share of the time"):
        share_of(budget)


def test_later_pauses_of_a_ledger_last_until_attending_is_a_small_share() -> None:
    """Where steps are small, attending to twenty-four of five hundred costs a tenth of them."""
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)
    sanitizer = Sanitizer(lines=False)
    sanitizer.keep_ledger()
    sanitizer.start()
    steps, pauses, begun = 0, list[int](), 0
    was_on = True
    try:
        while len(pauses) < 9:
            weight.square().sum().backward()
            optimizer.step()
            steps += 1
            if was_on and not sanitizer.attention.is_on:
                begun = steps
            if not was_on and sanitizer.attention.is_on:
                pauses.append(steps - begun)
                if len(pauses) == 8:
                    budget = _ledger_of(sanitizer)._budget  # noqa: SLF001 # its own
                    budget._spent += 0.003 - budget.debt  # noqa: SLF001 # a little more than is granted
            was_on = sanitizer.attention.is_on
    finally:
        sanitizer.close_ledger()
        sanitizer.stop()

    assert max(pauses[:8]) < 600
    assert pauses[8] > 2 * max(pauses[:8])


def _ledger_of(sanitizer: Sanitizer) -> Ledger:
    ledger = sanitizer._keeper._ledger  # noqa: SLF001 # its own
    assert ledger is not None
    return ledger
