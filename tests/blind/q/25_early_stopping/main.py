"""One-step-ahead demand forecast with a GRU, stopped early on the smoothed validation loss."""
import torch
import torch.nn as nn

from history import History

torch.manual_seed(37)

WINDOW = 24


def demand_series(n=400):
    t = torch.arange(n, dtype=torch.float32)
    daily = torch.sin(2 * torch.pi * t / 24)
    weekly = 0.5 * torch.sin(2 * torch.pi * t / 168)
    return daily + weekly + 0.15 * torch.randn(n)


def windows(series):
    x = series.unfold(0, WINDOW + 1, 1)
    return x[:, :-1].unsqueeze(-1), x[:, -1]


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        _, h = self.gru(x)
        return self.head(h[-1]).squeeze(-1)


def train_epoch(model, optimizer, criterion, x, y):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x)).split(64):
        loss = criterion(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    return total / len(x)


def validate(model, criterion, x, y):
    model.eval()
    return criterion(model(x), y)


series = demand_series()
x_train, y_train = windows(series[:300])
x_val, y_val = windows(series[300 - WINDOW:])

model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()
history = History()

for epoch in range(30):
    train_loss = train_epoch(model, optimizer, criterion, x_train, y_train)
    val_loss = validate(model, criterion, x_val, y_val)
    history.update(train_loss, val_loss)
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  train {train_loss:.4f}  val {val_loss:.4f}")
    if history.should_stop:
        print(f"stopped at epoch {epoch}")
        break
print(f"best smoothed val loss {history.best:.4f}")
