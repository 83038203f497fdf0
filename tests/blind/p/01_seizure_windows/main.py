"""Seizure detection on EEG windows with an LSTM.

The windows come from many recordings and are shuffled: each is classified on
its own, starting from a zero state.
"""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH_SIZE = 32


def make_windows(n=320, length=30, channels=4):
    y = (torch.rand(n) < 0.4).float()
    t = torch.arange(length).float()
    freq = torch.where(y > 0, 0.12, 0.3)[:, None] + 0.03 * torch.randn(n, 1)
    wave = torch.sin(2 * math.pi * freq * t + 2 * math.pi * torch.rand(n, 1))
    gain = 0.5 + torch.rand(channels)
    x = wave[:, :, None] * gain + 0.5 * torch.randn(n, length, channels)
    return TensorDataset(x, y)


class SeizureLSTM(nn.Module):
    def __init__(self, channels, hidden_dim=24):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.lstm = nn.LSTM(channels, hidden_dim, batch_first=True)
        self.norm = nn.LayerNorm(hidden_dim)
        self.linear = nn.Linear(hidden_dim, 1)
        self.hidden = self.init_hidden(BATCH_SIZE)

    def init_hidden(self, batch_size):
        return (torch.zeros(1, batch_size, self.hidden_dim),
                torch.zeros(1, batch_size, self.hidden_dim))

    def forward(self, x):
        lstm_out, self.hidden = self.lstm(x, self.hidden)
        return self.linear(self.norm(lstm_out[:, -1])).squeeze(1)


def main():
    torch.manual_seed(4711)
    loader = DataLoader(make_windows(), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    model = SeizureLSTM(channels=4)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    for epoch in range(5):
        total, correct = 0.0, 0
        for x, y in loader:
            optimizer.zero_grad()
            logits = model(x)
            loss = criterion(logits, y)
            loss.backward()
            optimizer.step()
            total += loss.item()
            correct += ((logits > 0).float() == y).sum().item()
        print(f"epoch {epoch}  loss {total / len(loader):.4f}"
              f"  acc {correct / (len(loader) * BATCH_SIZE):.3f}")


if __name__ == "__main__":
    main()
