"""A program is followed with an edit that nobody has made: what a value may be there, and what would break."""

from pathlib import Path

import pytest

from gradsan.check.rereading import reread, revealed

PROGRAM = """\
import torch
from torch import nn

{state}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
state = None
total = 0.0
for x in torch.ones(4, 5, 2):
    {above}
    out, state = net(x, {given})
    loss = out.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
    {below}
"""
LSTM, GRU = "net = nn.LSTM(2, 2)", "net = nn.GRU(2, 2)"
UNKNOWN = "from models import net"


def source(state: str = LSTM, *, above: str = "pass", given: str = "state", below: str = "pass") -> bytes:
    """A program that carries a state."""
    return PROGRAM.format(state=state, above=above, given=given, below=below).encode()


@pytest.mark.parametrize(
    ("state", "asked", "may_be"),
    [
        (LSTM, {"below": "__revealed__(state)"}, "tuple of tensor"),
        (GRU, {"below": "__revealed__(state)"}, "tensor"),
        (LSTM, {"above": "__revealed__(state)"}, "tuple of tensor or None"),  # nothing was carried yet in the first
        (GRU, {"given": "__revealed__(state)"}, "tensor or None"),
        (GRU, {"above": "if state is not None: __revealed__(state)"}, "tensor"),
        (GRU, {"below": "__revealed__(total)"}, "number"),
        (GRU, {"below": "__revealed__([state, total, None])"}, "list of (number or tensor or None)"),
        (UNKNOWN, {"below": "__revealed__(state)"}, "something"),
        (GRU, {}, ""),
    ],
)
def test_value_is_known_at_the_place_that_is_asked_about(
    state: str, asked: dict[str, str], may_be: str, tmp_path: Path
) -> None:
    """Before the first forward, below the pass, and after a question: each place has its own answer."""
    file = tmp_path / "train.py"

    assert str(revealed([file], {str(file): source(state, **asked)})) == may_be


@pytest.mark.parametrize(
    ("state", "edit", "misfits"),
    [
        (GRU, {"below": "state = state.detach()"}, []),
        (LSTM, {"below": "state = tuple(each.detach() for each in state)"}, []),
        (LSTM, {"below": "state = state.detach()"}, [("state.detach", True)]),
        (GRU, {"given": "state.detach()"}, [("state.detach", True)]),
        (GRU, {"below": "total = total.detach()"}, [("total.detach", True)]),
        (UNKNOWN, {"below": "state = state.detach()"}, [("state.detach", False)]),
    ],
)
def test_method_that_its_object_would_not_have_is_noted(
    state: str, edit: dict[str, str], misfits: list[tuple[str, bool]], tmp_path: Path
) -> None:
    """A tuple, a number and None have no `detach`; of something unknown, nobody knows."""
    file = tmp_path / "train.py"

    reading = reread(file, {str(file): source(state, **edit)})

    assert [(each.call, each.sure) for each in reading.misfits if each.call != "loss.item"] == misfits


def test_what_a_pass_reaches_is_trained(tmp_path: Path) -> None:
    """Cut off, it is not."""
    file = tmp_path / "train.py"

    assert reread(file, {str(file): source(GRU)}).trained
    assert not reread(file, {str(file): source(GRU).replace(b"out.mean()", b"out.detach().mean()")}).trained
