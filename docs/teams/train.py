"""A model whose state is carried over from step to step."""

import torch

weight = torch.ones(2, requires_grad=True)
hidden = torch.zeros(2)
for _ in range(3):
    hidden = (hidden + weight).tanh()
    loss = hidden.sum()
    loss.backward()
