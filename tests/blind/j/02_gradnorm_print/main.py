"""Predict the fuel use of cars; print how large the gradient is before each update.

Plain mean squared error, one update per pass over the data.
"""
import torch
import torch.nn as nn

torch.manual_seed(2)
n = 120
weight = torch.rand(n, 1) * 2 + 1
power = torch.rand(n, 1) * 3
fuel = 2.1 * weight + 0.7 * power ** 2 + 0.1 * torch.randn(n, 1)
x = torch.cat([weight, power], dim=1)


class FuelNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 12)
        self.out = nn.Linear(12, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


def gradient_size(model, loss):
    """Length of the whole gradient vector of this loss."""
    loss.backward()
    total = 0.0
    for p in model.parameters():
        total += p.grad.pow(2).sum().item()
    return total ** 0.5


model = FuelNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.MSELoss()

for epoch in range(30):
    optimizer.zero_grad()
    loss = criterion(model(x), fuel)
    size = gradient_size(model, loss)
    if epoch % 5 == 0:
        print("epoch", epoch, "loss", round(loss.item(), 3), "gradient", round(size, 3))
    loss.backward()
    optimizer.step()
print("done", round(loss.item(), 3))
