"""Runs longer than those that are attended to all the time: what is found in them, what it costs in memory."""

import threading
from collections.abc import Callable

import pytest
import torch
from torch import nn

import gradsan
from gradsan.observe import passes
from gradsan.observe.ledger import book, hoards
from gradsan.observe.ledger.budget import Budget

history: list[torch.Tensor] = []  # to be found also when the run is over

Program = Callable[[], None]

_STEPS = book._STEPS_AT_FIRST + 2 * book._PAUSE + 40  # noqa: SLF001 # two rests, and then some
_LATE = book._STEPS_AT_FIRST + book._PAUSE  # noqa: SLF001 # one rest


def learner() -> tuple[nn.Module, torch.optim.Optimizer]:
    """A model and its optimizer."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


def trains() -> None:
    """Rightly."""
    model, opt = learner()
    for _ in range(_STEPS):
        opt.zero_grad()
        loss = model(torch.randn(5, 4)).square().mean()
        loss.backward()
        opt.step()


def accumulates() -> None:
    """Rightly too."""
    model, opt = learner()
    for step in range(_STEPS):
        loss = model(torch.randn(5, 4)).square().mean()
        loss.backward()
        if step % 4 == 3:
            opt.step()
            opt.zero_grad()


def never_clears() -> None:
    """GS303."""
    model, opt = learner()
    for _ in range(_STEPS):
        loss = model(torch.randn(5, 4)).square().mean()
        loss.backward()
        opt.step()


def keeps_losses() -> None:
    """GS301."""
    model, opt = learner()
    history.clear()
    for _ in range(_STEPS):
        opt.zero_grad()
        loss = model(torch.randn(5, 4)).square().mean()
        loss.backward()
        opt.step()
        history.append(loss)


def retains_for_nobody() -> None:
    """GS302."""
    model, opt = learner()
    for _ in range(_STEPS):
        opt.zero_grad()
        loss = model(torch.randn(5, 4)).square().mean()
        loss.backward(retain_graph=True)
        opt.step()


def retains_for_another_pass_at_times() -> None:
    """Rightly: now and then the graph is walked again."""
    model, opt = learner()
    for step in range(_STEPS):
        opt.zero_grad()
        loss = model(torch.randn(5, 4)).square().mean()
        loss.backward(retain_graph=True)
        if step % 100 == 99:  # never among the first
            opt.zero_grad()
            loss.backward()
        opt.step()


def forgets_to_clear_later() -> None:
    """GS303: fine-tuning begins when most of what is attended to is over."""
    model, opt = learner()
    for step in range(_STEPS):
        if step < _LATE:
            opt.zero_grad()
        model(torch.randn(5, 4)).square().mean().backward()
        opt.step()


def accumulates_later() -> None:
    """Rightly: the batches of a step become more."""
    model, opt = learner()
    for step in range(_STEPS):
        model(torch.randn(5, 4)).square().mean().backward()
        if step < _LATE or step % 8 == 0:
            opt.step()
            opt.zero_grad(set_to_none=False)


def keeps_a_validation_now_and_then() -> None:
    """GS301, of a graph in many steps."""
    model, opt = learner()
    curve = []
    for step in range(_STEPS):
        opt.zero_grad()
        model(torch.randn(5, 4)).square().mean().backward()
        opt.step()
        if step % 120 == 0:
            curve.append(model(torch.randn(5, 4)).square().mean())


def keeps_the_latest_validations() -> None:
    """Rightly: the list is kept short, though it never becomes long enough for that here."""
    model, opt = learner()
    recent: list[torch.Tensor] = []
    for step in range(_STEPS):
        opt.zero_grad()
        model(torch.randn(5, 4)).square().mean().backward()
        opt.step()
        if step % 120 == 0:
            recent.append(model(torch.randn(5, 4)).square().mean())
            recent = recent[-50:]


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (trains, None),
        (forgets_to_clear_later, "GS303"),
        (accumulates_later, None),
        (keeps_a_validation_now_and_then, "GS301"),
        (keeps_the_latest_validations, None),
        (accumulates, None),
        (never_clears, "GS303"),
        (keeps_losses, "GS301"),
        (retains_for_nobody, "GS302"),
        (retains_for_another_pass_at_times, None),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_silent_problem_of_a_long_run_is_found(
    program: Program, code: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though most of its steps are not attended to."""
    monkeypatch.setattr(Budget, "grant", 60.0)  # else looks hang on the speed of the machine
    with gradsan.watch() as watch:
        # A thread, because on 3.11 the functions that are running now are not recorded.
        thread = threading.Thread(target=program)
        thread.start()
        thread.join()

    assert [each.code for each in watch.diagnoses] == ([] if code is None else [code])


def test_numbers_of_a_long_run_are_those_of_all_steps() -> None:
    """Not only of those that were attended to."""
    with gradsan.watch() as watch:
        thread = threading.Thread(target=keeps_losses)
        thread.start()
        thread.join()

    (found,) = watch.diagnoses
    assert found.evidence["graphs"] == pytest.approx(_STEPS, abs=1)


def test_steps_that_were_not_reported_are_no_hoard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their passes took what was created meanwhile: a search for it would be a waste, and leave no time for others."""
    looked = []
    monkeypatch.setattr(hoards.Hoards, "_search", lambda *_: looked.append(True))

    def loss_of(model: nn.Module) -> torch.Tensor:
        return model(torch.randn(5, 4)).square().mean()  # type: ignore[no-any-return]

    def train() -> None:
        model, opt = learner()
        for _ in range(_STEPS):
            opt.zero_grad()
            loss_of(model).backward()
            opt.step()

    with gradsan.watch():
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()

    assert not looked


def averages_by_epoch() -> None:
    """GS301: of a total that each epoch begins again."""
    model, opt = learner()
    for _ in range(8):
        total = torch.zeros(())
        for _ in range(15):
            opt.zero_grad()
            loss = model(torch.randn(5, 4)).square().mean()
            loss.backward()
            opt.step()
            total = total + loss


@pytest.mark.parametrize("share", [1e-9, 1e9], ids=["no time for other snapshots", "a snapshot of every pass"])
def test_what_is_counted_does_not_hang_on_the_speed_of_a_machine(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Holders are searched at the same passes, whichever others were walked."""
    monkeypatch.setattr(passes, "_SHARE", share)
    monkeypatch.setattr(passes, "_SHARE_OF_NEW", share)

    with gradsan.watch(quiet=True) as seen:
        averages_by_epoch()

    assert [each.message for each in seen.diagnoses] == [
        "`total` keeps the graphs of 13 steps, and more with every step"
    ]
