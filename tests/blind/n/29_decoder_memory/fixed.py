"""Bike-rental forecaster: a recurrent decoder that attends over its own past states."""
import torch
from torch import nn

torch.manual_seed(808)

HIST, HORIZON, DIM = 14, 7, 20


class SelfAttentiveDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Linear(HIST, DIM)
        self.query = nn.Linear(DIM, DIM)
        self.cell = nn.GRUCell(DIM + 1, DIM)
        self.out = nn.Linear(DIM, 1)

    def look_back(self, h, past):
        """Weighted sum of the states so far, past is (batch, t, DIM)."""
        score = torch.bmm(past, self.query(h).unsqueeze(2)).squeeze(2)
        weight = torch.softmax(score / DIM ** 0.5, dim=1)
        return torch.bmm(weight.unsqueeze(1), past).squeeze(1)

    def forward(self, history):
        h = torch.tanh(self.start(history))
        y = history[:, -1:]
        states = [h]
        forecast = []
        for day in range(HORIZON):
            context = self.look_back(h, torch.stack(states, dim=1))
            h = self.cell(torch.cat([context, y], dim=1), h)
            y = self.out(h)
            states.append(h)
            forecast.append(y)
        return torch.cat(forecast, dim=1)


def rentals(n):
    t = torch.arange(HIST + HORIZON).float()
    weekly = torch.sin(6.2832 * (t + 7 * torch.rand(n, 1)) / 7)
    trend = 0.05 * t * torch.randn(n, 1)
    series = weekly + trend + 0.05 * torch.randn(n, HIST + HORIZON)
    return series[:, :HIST], series[:, HIST:]


model = SelfAttentiveDecoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)

for step in range(30):
    history, future = rentals(32)
    loss = (model(history) - future).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step:3d}  mae {loss.item():.4f}")
