"""Two tests that pass, and one of them trains in a way that wastes memory."""

import torch
from torch import nn

from gradsan import assert_graph_freed, no_graph_leak


def test_keeps_what_nobody_uses():
    model = nn.Linear(4, 1)
    for _ in range(5):
        model(torch.ones(3, 4)).square().mean().backward(retain_graph=True)


def test_leaves_nothing_behind():
    with no_graph_leak():
        loss = nn.Linear(4, 1)(torch.ones(3, 4)).square().mean()
        loss.backward()
    assert_graph_freed(loss)
