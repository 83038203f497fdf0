"""`assert_graph_freed` and `no_graph_leak`."""

import pytest
import torch

import gradsan
from gradsan import assert_graph_freed, no_graph_leak

KEPT: list[torch.Tensor] = []


class Doubled(torch.autograd.Function):
    """An op of the user's own that saves a tensor."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: torch.Tensor) -> torch.Tensor:  # noqa: D102 # torch's
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: torch.Tensor) -> torch.Tensor:  # noqa: ARG004, D102
        return grads[0] * 2


def a_loss() -> torch.Tensor:
    """With ops that save values, and one of the user's own."""
    weight = torch.ones(3, requires_grad=True)
    loss: torch.Tensor = Doubled.apply(weight.exp() * weight).sum()  # type: ignore[no-untyped-call]
    return loss


def test_freed_graph_passes() -> None:
    """And so does one that there is none of."""
    loss = a_loss()
    loss.backward()

    assert_graph_freed(loss, torch.ones(1))


@pytest.mark.parametrize("retain", [None, True])
def test_graph_that_holds_values_fails(retain: bool | None) -> None:  # noqa: FBT001 # a parameter
    """Nobody went through it, or that pass kept it."""
    loss = a_loss()
    if retain:
        loss.backward(retain_graph=True)

    with pytest.raises(AssertionError, match=r"the graph is not freed: 3 ops \(DoubledBackward, MulBackward0, Exp"):
        assert_graph_freed(loss)


def test_value_that_was_edited_is_held_all_the_same() -> None:
    """Reading it fails, for another reason."""
    weight = torch.ones(3, requires_grad=True)
    hidden = weight.exp()
    loss = hidden.square().sum()
    with torch.no_grad():
        hidden.add_(1)

    with pytest.raises(AssertionError, match="2 ops"):
        assert_graph_freed(loss)


def test_what_the_block_gives_is_no_leak() -> None:
    """A plain variable of the function that has the block is its result, with all that it was computed from."""
    with no_graph_leak():
        loss = a_loss()
        loss.backward()
        number = loss.item()

    assert number > 0


def keep_losses(count: int, *, fail: bool = False) -> None:
    """A block that leaves losses behind in a list of the module's."""
    with no_graph_leak():
        for _ in range(count):
            KEPT.append(a_loss())
            KEPT[-1].backward()
        if fail:
            raise LookupError


def test_what_outlives_the_block_is_named() -> None:
    """Freed or not; what was there before is none of the block's business."""
    KEPT.append(a_loss())
    with pytest.raises(AssertionError, match="2 graphs created in this block outlive it, held by `KEPT`; keep"):
        keep_losses(2)
    with no_graph_leak():
        KEPT.append(a_loss().detach())
    KEPT.clear()


def test_error_in_the_block_is_raised_as_it_is() -> None:
    """It says more than a leak."""
    with pytest.raises(LookupError):
        keep_losses(1, fail=True)
    KEPT.clear()


def train(*, retain: bool) -> None:
    """Six passes."""
    for _ in range(6):
        a_loss().backward(retain_graph=retain)


def test_watched_block_answers_for_itself() -> None:
    """Where gradsan is installed all the time, too: neither passes nor problems of an earlier block are counted."""
    gradsan.install()
    try:
        with gradsan.watch(quiet=True) as first:
            train(retain=True)
        with gradsan.watch(quiet=True) as second:
            train(retain=False)
        with gradsan.watch(quiet=True) as third:
            train(retain=True)
    finally:
        gradsan.uninstall()

    codes = [[each.code for each in watched.diagnoses] for watched in (first, second, third)]
    assert codes == [["GS302"], [], ["GS302"]]
    assert [watched.summary and watched.summary.passes for watched in (first, second, third)] == [6, 6, 6]
