"""Next-day temperature from a week of station readings, with early stopping on the validation error."""
import argparse
import copy

import torch
import torch.nn as nn


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--patience", type=int, default=4)
    return p.parse_args()


def station_series(days, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(days).float()
    temp = 10 + 8 * torch.sin(2 * torch.pi * t / 60) + torch.randn(days, generator=g)
    wind = 5 + 2 * torch.cos(2 * torch.pi * t / 30) + 0.5 * torch.randn(days, generator=g)
    temp[1:] = temp[1:] - 0.4 * wind[:-1]
    press = 1013 + 6 * torch.randn(days, generator=g).cumsum(0) / 10
    series = torch.stack([temp, wind, press], dim=1)
    return (series - series.mean(0)) / series.std(0)


def make_windows(series, width=7):
    x = torch.stack([series[i:i + width].flatten() for i in range(len(series) - width)])
    y = series[width:, 0:1]
    return x, y


class WeatherNet(nn.Module):
    def __init__(self, n_in, hidden=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, hidden), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x)


def train_epoch(model, data, optimizer, loss_fn, batch):
    model.train()
    x, y = data
    losses = []
    for idx in torch.randperm(len(x)).split(batch):
        optimizer.zero_grad()
        loss = loss_fn(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def validate(model, data, loss_fn, batch):
    model.eval()
    x, y = data
    total = 0.0
    for xb, yb in zip(x.split(batch), y.split(batch)):
        total += loss_fn(model(xb), yb) * len(xb)
    return total / len(x)


def main():
    args = parse()
    torch.manual_seed(17)
    x, y = make_windows(station_series(520, seed=2))
    cut = 400
    train, valid = (x[:cut], y[:cut]), (x[cut:], y[cut:])
    model = WeatherNet(x.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
    loss_fn = nn.MSELoss()

    history = {"train": [], "valid": []}
    best, best_state, waited = None, None, 0
    for epoch in range(args.epochs):
        history["train"].append(train_epoch(model, train, optimizer, loss_fn, args.batch))
        history["valid"].append(validate(model, valid, loss_fn, args.batch))
        current = history["valid"][-1]
        scheduler.step()
        print(f"epoch {epoch + 1}: train {history['train'][-1]:.4f}  valid {current:.4f}")
        if best is None or current < best:
            best, best_state, waited = current, copy.deepcopy(model.state_dict()), 0
        else:
            waited += 1
            if waited >= args.patience:
                print("stopping early")
                break
    model.load_state_dict(best_state)
    print(f"best valid {best:.4f} in epoch {history['valid'].index(best) + 1}")


if __name__ == "__main__":
    main()
