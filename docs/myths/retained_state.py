import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.GRUCell(2, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
state = torch.zeros(1, 4)
for _ in range(3):
    state = cell(torch.randn(1, 2), state)
    loss = head(state).pow(2).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)  # "the fix"
    optimizer.step()
