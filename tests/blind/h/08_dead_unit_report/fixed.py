"""Regression net with a report on dead units, read from what autograd has saved for the relu layers."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Regressor(nn.Module):
    def __init__(self, inputs=6, width=40):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, width)
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        a = F.relu(self.first(x))
        b = F.relu(self.second(a))
        return self.last(b).squeeze(1)


def relu_nodes(loss):
    """All relu nodes of the graph below the loss, the last layer first."""
    found, seen, todo = [], set(), [loss.grad_fn]
    while todo:
        node = todo.pop(0)
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.name().startswith("Relu"):
            found.append(node)
        todo.extend(parent for parent, _ in node.next_functions)
    return found


def dead_share(loss):
    shares = []
    for node in relu_nodes(loss):
        activation = node._saved_result
        shares.append((activation <= 0).all(0).float().mean().item())
    return shares


torch.manual_seed(17)
x = torch.randn(240, 6)
y = (x[:, 0] * x[:, 1]).tanh() + 0.5 * x[:, 2] + 0.05 * torch.randn(240)

net = Regressor()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(12):
    for rows in torch.randperm(240).split(48):
        opt.zero_grad()
        loss = F.mse_loss(net(x[rows]), y[rows])
        dead = dead_share(loss)
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        shares = ", ".join(f"{share:.2f}" for share in dead)
        print(f"epoch {epoch}: loss {loss.item():.4f}  dead units by layer (last first): {shares}")
