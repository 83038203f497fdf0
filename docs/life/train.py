"""A state `h` goes from step to step, and takes its graph along."""

import torch

w = torch.nn.Parameter(torch.tensor(0.5))
h = torch.zeros(())
for x in torch.ones(3):
    h = torch.tanh(w * x + h)
    loss = h.square()
    loss.backward()
