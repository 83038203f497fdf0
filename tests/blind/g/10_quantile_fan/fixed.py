"""Forecast quantiles of tomorrow's demand."""
import torch
import torch.nn as nn

QUANTILES = (0.1, 0.5, 0.9)


class FanNet(nn.Module):
    def __init__(self, lags, width=32):
        super().__init__()
        self.gru = nn.GRU(1, width, batch_first=True)
        self.fan = nn.Linear(width, len(QUANTILES))

    def forward(self, history):
        output, _ = self.gru(history[..., None])
        return self.fan(output[:, -1])


def pinball(prediction, target, q):
    error = target - prediction
    return torch.maximum(q * error, (q - 1) * error).mean()


def demand(days):
    t = torch.arange(days).float()
    week = torch.cos(2 * torch.pi * t / 7) + 0.5 * torch.sin(4 * torch.pi * t / 7)
    return week + (0.1 + 0.3 * (t % 7 > 4)) * torch.randn(days)


def fit(series, lags=14, epochs=8, lr=1e-2):
    windows = series.unfold(0, lags + 1, 1)
    history, target = windows[:, :-1], windows[:, -1]
    net = FanNet(lags)
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(epochs):
        sums = dict.fromkeys(QUANTILES, 0.0)
        pieces = torch.randperm(len(history)).split(64)
        for rows in pieces:
            fan = net(history[rows])
            losses = [pinball(fan[:, i], target[rows], q) for i, q in enumerate(QUANTILES)]
            optimizer.zero_grad()
            sum(losses).backward()
            optimizer.step()
            for q, loss in zip(QUANTILES, losses):
                sums[q] += loss.item() / len(pieces)
        print(f"epoch {epoch}: " + "  ".join(f"q{q}: {value:.4f}" for q, value in sums.items()))
    return net, history, target


torch.manual_seed(38)
net, history, target = fit(demand(420))
with torch.no_grad():
    fan = net(history)
print("below each quantile:", [round((target < fan[:, i]).float().mean().item(), 2) for i in range(3)])
