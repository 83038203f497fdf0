"""The popular answer: `retain_graph=True`. It runs."""

import torch

w = torch.nn.Parameter(torch.tensor(0.5))
optimizer = torch.optim.SGD([w], lr=0.1)
h = torch.zeros(())
for x in torch.ones(6):
    h = torch.tanh(w * x + h)
    loss = h.square()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
print("it runs")
