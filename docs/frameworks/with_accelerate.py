"""A state that one step leaves to the next, in a loop with accelerate."""

import torch
from accelerate import Accelerator
from torch import nn

from gradsan.plug.accelerate import watched


def train(accelerator, model, optimizer):
    state = torch.zeros(2, 4)
    for batch in torch.ones(6, 2, 4):
        state = model(batch, state)
        accelerator.backward(state.square().mean())
        optimizer.step()
        optimizer.zero_grad()


cell = nn.GRUCell(4, 4)
accelerator = Accelerator(cpu=True)
model, optimizer = accelerator.prepare(cell, torch.optim.SGD(cell.parameters(), lr=0.1))
with watched(accelerator):
    train(accelerator, model, optimizer)
