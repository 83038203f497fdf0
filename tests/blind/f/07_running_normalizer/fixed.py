"""Load forecasting: features are normalised with running statistics that follow a slow drift."""
import torch
import torch.nn as nn


class DriftNorm(nn.Module):
    """Normalises with the running statistics of the past, then takes the present batch into account."""

    def __init__(self, width, momentum=0.2, eps=1e-4):
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.gain = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.mean = torch.zeros(width)
        self.var = torch.ones(width)

    def forward(self, x):
        out = (x - self.mean) / (self.var + self.eps).sqrt() * self.gain + self.bias
        if self.training:
            x = x.detach()
            self.mean = (1 - self.momentum) * self.mean + self.momentum * x.mean(0)
            self.var = (1 - self.momentum) * self.var + self.momentum * x.var(0)
        return out


class Forecaster(nn.Module):
    def __init__(self, window, horizon, width=40):
        super().__init__()
        self.embed = nn.Linear(window, width)
        self.norm = DriftNorm(width)
        self.out = nn.Sequential(nn.Tanh(), nn.Linear(width, horizon))

    def forward(self, past):
        return self.out(self.norm(self.embed(past)))


def load_curve(hours):
    t = torch.arange(hours).float()
    day = torch.sin(2 * torch.pi * t / 24) + 0.4 * torch.sin(4 * torch.pi * t / 24 + 1)
    return day + 0.001 * t + 0.1 * torch.randn(hours)


def windows(series, window, horizon):
    cut = series.unfold(0, window + horizon, 1)
    return cut[:, :window], cut[:, window:]


torch.manual_seed(29)
past, future = windows(load_curve(700), 48, 12)
train_rows = torch.arange(0, 520)
model = Forecaster(48, 12)
optimizer = torch.optim.AdamW(model.parameters(), lr=8e-4)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.5)

for epoch in range(7):
    model.train()
    running = 0.0
    for rows in train_rows.split(40):  # in the order of time
        loss = nn.functional.smooth_l1_loss(model(past[rows]), future[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        running += loss.item()
    schedule.step()
    model.eval()
    with torch.no_grad():
        test = (model(past[540:]) - future[540:]).abs().mean()
    print(f"epoch {epoch} train {running / 13:.4f} test mae {test:.4f}")
