"""A graph that is created once, and trained in every iteration of ignite's engine."""

import torch
from ignite.engine import Engine
from torch import nn

from gradsan.plug.ignite import attach

weights = nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([weights], lr=0.1)
scaled = weights * 2


def update(engine, batch):
    optimizer.zero_grad()
    (scaled * batch).square().sum().backward()
    optimizer.step()


trainer = Engine(update)
attach(trainer, optimizer)
trainer.run(torch.ones(6, 4), max_epochs=2)
