"""Forecast hourly demand with stacked LSTM cells, one window after the other."""
import math

import torch
import torch.nn as nn


def make_series(length):
    t = torch.arange(length, dtype=torch.float32)
    daily = torch.sin(2 * math.pi * t / 24)
    weekly = 0.5 * torch.sin(2 * math.pi * t / 168)
    return (daily + weekly + 0.1 * torch.randn(length)).unsqueeze(1)


class DemandNet(nn.Module):
    def __init__(self, hidden=16, layers=2):
        super().__init__()
        self.hidden = hidden
        self.cells = nn.ModuleList(nn.LSTMCell(1 if i == 0 else hidden, hidden) for i in range(layers))
        self.out = nn.Linear(hidden, 1)

    def init_states(self, batch):
        return [(torch.zeros(batch, self.hidden), torch.zeros(batch, self.hidden)) for _ in self.cells]

    def forward(self, window, states):
        preds = []
        for x in window:
            new_states = []
            for cell, state in zip(self.cells, states):
                h, c = cell(x, state)
                new_states.append((h, c))
                x = h
            states = new_states
            preds.append(self.out(x))
        return torch.stack(preds), states


def train_epoch(net, optimizer, criterion, series, window=12):
    states = net.init_states(batch=1)
    epoch_loss, windows = 0.0, 0
    for start in range(0, len(series) - window - 1, window):
        inputs = series[start:start + window].unsqueeze(1)
        targets = series[start + 1:start + window + 1].unsqueeze(1)
        optimizer.zero_grad()
        states = [(h.detach(), c.detach()) for h, c in states]
        preds, states = net(inputs, states)
        loss = criterion(preds, targets)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
        windows += 1
    return epoch_loss / windows


if __name__ == "__main__":
    torch.manual_seed(101)
    series = make_series(150)
    net = DemandNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    criterion = nn.MSELoss()
    for epoch in range(3):
        print(f"epoch {epoch + 1}: mse {train_epoch(net, optimizer, criterion, series):.4f}")
