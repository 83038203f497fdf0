"""Stateful forecaster for a long series that is cut into consecutive windows."""
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class FitResult:
    losses: list = field(default_factory=list)
    steps: int = 0
    best: float = float("inf")


class Forecaster(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.lstm = nn.LSTM(1, width, batch_first=True)
        self.out = nn.Linear(width, 1)
        self.hidden = None

    def reset(self):
        self.hidden = None

    def forward(self, x):
        if self.hidden is not None:
            self.hidden[0].detach()
            self.hidden[1].detach()
        y, self.hidden = self.lstm(x, self.hidden)
        return self.out(y)


def series(length, phase=0.0):
    t = torch.arange(length, dtype=torch.float32)
    return (torch.sin(0.3 * t + phase) + 0.5 * torch.sin(0.05 * t)).unsqueeze(-1)


def windows(rows, size):
    """Consecutive (input, target) windows; rows of a batch stay aligned."""
    length = rows.shape[1]
    for start in range(0, length - size, size):
        yield rows[:, start:start + size], rows[:, start + 1:start + size + 1]


class Trainer:
    def __init__(self, model, lr=1e-2, patience=3):
        self.model = model
        self.patience = patience
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, rows, epochs, size=10):
        result, bad = FitResult(), 0
        for epoch in range(epochs):
            self.model.reset()
            total = 0.0
            for x, y in windows(rows, size):
                self.optimizer.zero_grad()
                loss = nn.functional.mse_loss(self.model(x), y)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                total += loss.item()
                result.steps += 1
            result.losses.append(total)
            if total < result.best:
                result.best, bad = total, 0
            else:
                bad += 1
                if bad >= self.patience:
                    break
        return result


def main():
    torch.manual_seed(16)
    rows = torch.stack([series(41, 0.0), series(41, 1.0), series(41, 2.0)])
    result = Trainer(Forecaster()).fit(rows, epochs=4)
    for epoch, loss in enumerate(result.losses):
        print(f"epoch {epoch}: {loss:.4f}")


if __name__ == "__main__":
    main()
