"""Traffic counts on a long road-sensor log, trained with truncated backpropagation through time."""
import torch
from torch import nn

torch.manual_seed(2718)

LANES, HIDDEN, WINDOW = 4, 24, 20


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(LANES, HIDDEN)
        self.readout = nn.Linear(HIDDEN, LANES)

    def forward(self, x, state):
        state = self.cell(x, state)
        return self.readout(state[0]), state


def fresh_state(batch):
    return torch.zeros(batch, HIDDEN), torch.zeros(batch, HIDDEN)


def cut(state):
    return tuple(s.detach() for s in state)


def sensor_log(batch=8, length=401):
    t = torch.arange(length).float()[:, None, None]
    phase = 6.28 * torch.rand(1, batch, LANES)
    counts = torch.sin(0.13 * t + phase) + 0.3 * torch.sin(0.41 * t)
    outage = torch.rand(length, batch, 1) < 0.01
    return counts + 0.05 * torch.randn(length, batch, LANES), (~outage).float()


counts, alive = sensor_log()
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)

for epoch in range(2):
    state = fresh_state(counts.shape[1])
    total = 0.0
    window_loss = 0
    for t in range(counts.shape[0] - 1):
        # a sensor coming back from an outage starts from an empty memory
        state = tuple(s * alive[t] for s in state)
        pred, state = model(counts[t], state)
        window_loss = window_loss + (pred - counts[t + 1]).pow(2).mean()

        if (t + 1) % WINDOW == 0:
            optimizer.zero_grad()
            (window_loss / WINDOW).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += window_loss.item()
            window_loss = 0
            state = cut(state)
    print(f"epoch {epoch}  mse {total / (counts.shape[0] - 1):.4f}")
