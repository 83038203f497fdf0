"""Silent problems that begin in the middle of a run, when not every step is attended to any more."""

import threading
from collections.abc import Callable

import pytest
import torch
from torch import nn

import gradsan
from gradsan.observe import passes
from gradsan.observe.ledger import book
from gradsan.observe.ledger.budget import Budget

_AT_FIRST, _PAUSE = 16, 40  # steps: the run is shorter than those of users, and so are its rests
_LATE, _STEPS = 120, 320

Program = Callable[[], None]


def parts() -> tuple[nn.Linear, nn.Linear, torch.optim.Optimizer]:
    """An encoder and a head, and one optimizer for both."""
    torch.manual_seed(0)
    encoder, head = nn.Linear(4, 6), nn.Linear(6, 1)
    return encoder, head, torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.01)


def stays_in_evaluation() -> None:
    """GS306: who evaluates does not go back."""
    encoder, head, opt = parts()
    for step in range(_STEPS):
        with torch.set_grad_enabled(encoder.training):
            features = encoder(torch.randn(5, 4))
        opt.zero_grad()
        head(features).square().mean().backward()
        opt.step()
        if step == _LATE:
            encoder.eval()


def leaves_a_flag_behind() -> None:
    """GS306: in a function of its own."""
    encoder, head, opt = parts()
    flags = {"train": True}

    def encode(batch: torch.Tensor) -> torch.Tensor:
        with torch.set_grad_enabled(flags["train"]):
            return encoder(batch)  # type: ignore[no-any-return]

    for step in range(_STEPS):
        flags["train"] = flags["train"] and step != _LATE
        opt.zero_grad()
        head(encode(torch.randn(5, 4))).square().mean().backward()
        opt.step()


def one_of_two_heads_stays_in_evaluation() -> None:
    """GS306: the rest is trained on."""
    encoder, head, opt = parts()
    other = nn.Linear(6, 6)
    opt.add_param_group({"params": list(other.parameters())})
    for step in range(_STEPS):
        features = encoder(torch.randn(5, 4))
        with torch.set_grad_enabled(other.training):
            gate = other(features)
        opt.zero_grad()
        head(features * gate).square().mean().backward()
        opt.step()
        if step == _LATE:
            other.eval()


def freezes_by_a_schedule() -> None:
    """Rightly: the program says when."""
    encoder, head, opt = parts()
    for step in range(_STEPS):
        with torch.set_grad_enabled(step < _LATE):
            features = encoder(torch.randn(5, 4))
        opt.zero_grad()
        head(features).square().mean().backward()
        opt.step()


def detaches_by_a_schedule() -> None:
    """Rightly: a line that did not run before cuts it off."""
    encoder, head, opt = parts()
    for step in range(_STEPS):
        features = encoder(torch.randn(5, 4))
        if step >= _LATE:
            features = features.detach()
        opt.zero_grad()
        head(features).square().mean().backward()
        opt.step()


def trains_the_head_afterwards() -> None:
    """Rightly: a second phase, in which the encoder is to stay as it is."""
    encoder, head, opt = parts()
    for _ in range(_LATE):
        opt.zero_grad()
        head(encoder(torch.randn(5, 4))).square().mean().backward()
        opt.step()
    for _ in range(_LATE, _STEPS):
        features = encoder(torch.randn(5, 4)).detach()
        opt.zero_grad()
        head(features).square().mean().backward()
        opt.step()


def carries_the_state_on_later() -> None:
    """GS305."""
    _, head, opt = parts()
    state, scale = torch.zeros(5, 6), torch.ones(1, requires_grad=True)
    for step in range(_STEPS):
        if step < _LATE:
            state = state.detach()
        state = 0.9 * state + scale * torch.randn(5, 6)
        opt.zero_grad()
        head(state).square().mean().backward(retain_graph=True)
        opt.step()


def retains_later() -> None:
    """GS302."""
    encoder, head, opt = parts()
    for step in range(_STEPS):
        opt.zero_grad()
        head(encoder(torch.randn(5, 4))).square().mean().backward(retain_graph=step >= _LATE)
        opt.step()


def uses_an_old_value_later() -> None:
    """GS308."""
    encoder, head, opt = parts()
    shift = encoder.weight + 0.0
    for step in range(_STEPS):
        if step <= _LATE:
            shift = encoder.weight + 0.0
        opt.zero_grad()
        (head(encoder(torch.randn(5, 4))).square().mean() + (shift * 1.0).sum() * 0.01).backward()
        opt.step()


def takes_the_last_of_a_loop_later() -> None:
    """GS304, in a second phase."""
    encoder, head, opt = parts()
    for _ in range(_LATE):
        opt.zero_grad()
        head(encoder(torch.randn(5, 4))).square().mean().backward()
        opt.step()
    for _ in range(_LATE, _STEPS):
        opt.zero_grad()
        for batch in torch.randn(3, 5, 4):
            loss = head(encoder(batch)).square().mean()
        loss.backward()
        opt.step()


def stops_clearing() -> None:
    """GS303: a condition that was to be true again."""
    encoder, head, opt = parts()
    for step in range(_STEPS):
        if step < _LATE:
            opt.zero_grad()
        head(encoder(torch.randn(5, 4))).square().mean().backward()
        opt.step()


def accumulates_later() -> None:
    """Rightly: over more batches from some time on."""
    encoder, head, opt = parts()
    for step in range(_STEPS):
        head(encoder(torch.randn(5, 4))).square().mean().backward()
        if step < _LATE or step % 4 == 0:
            opt.step()
            opt.zero_grad()


def comes_after_the_step_later() -> None:
    """GS307: a second loss, from some time on."""
    encoder, head, opt = parts()
    for step in range(_STEPS):
        opt.zero_grad()
        head(encoder(torch.randn(5, 4))).square().mean().backward()
        opt.step()
        if step > _LATE:
            penalty = encoder(torch.randn(5, 4)).square().mean()
            penalty.backward()


def penalises_without_a_graph_later() -> None:
    """GS309, in a second phase."""
    encoder, head, opt = parts()
    for step in range(_STEPS):
        points = torch.randn(5, 4, requires_grad=True)
        out = head(encoder(points).tanh())
        loss = out.square().mean()
        if step > _LATE:
            (slopes,) = torch.autograd.grad(out.sum(), points, retain_graph=True)
            loss = loss + (slopes.norm(dim=1) - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def forgets_a_term_later() -> None:
    """GS304, in a second phase."""
    encoder, head, opt = parts()
    for _ in range(_LATE):
        opt.zero_grad()
        head(encoder(torch.randn(5, 4))).square().mean().backward()
        opt.step()
    for _ in range(_STEPS - _LATE):
        features = encoder(torch.randn(5, 4))
        fit_loss = head(features).square().mean()
        norm_loss = features.square().mean()  # noqa: F841 # nobody reads it
        opt.zero_grad()
        fit_loss.backward()
        opt.step()


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (stays_in_evaluation, "GS306"),
        (leaves_a_flag_behind, "GS306"),
        (one_of_two_heads_stays_in_evaluation, "GS306"),
        (freezes_by_a_schedule, None),
        (detaches_by_a_schedule, None),
        (trains_the_head_afterwards, None),
        (carries_the_state_on_later, "GS305"),
        (retains_later, "GS302"),
        (stops_clearing, "GS303"),
        (accumulates_later, None),
        (comes_after_the_step_later, "GS307"),
        (penalises_without_a_graph_later, "GS309"),
        (forgets_a_term_later, "GS304"),
        (uses_an_old_value_later, "GS308"),
        (takes_the_last_of_a_loop_later, "GS304"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_what_begins_late_is_found(program: Program, code: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what a program chooses to do from some time on is left alone."""
    monkeypatch.setattr(Budget, "grant", 60.0)  # else looks hang on the speed of the machine
    for share in ("_SHARE", "_SHARE_OF_NEW"):  # and so do snapshots of passes
        monkeypatch.setattr(passes, share, 1.0)
    monkeypatch.setattr(book, "_STEPS_AT_FIRST", _AT_FIRST)
    monkeypatch.setattr(book, "_PAUSE", _PAUSE)
    with gradsan.watch() as watch:
        # A thread, because on 3.11 the functions that are running now are not recorded.
        thread = threading.Thread(target=program)
        thread.start()
        thread.join()

    assert [each.code for each in watch.diagnoses] == ([] if code is None else [code])
    if code == "GS306":
        assert "no gradient any more, from some time on" in watch.diagnoses[0].message
