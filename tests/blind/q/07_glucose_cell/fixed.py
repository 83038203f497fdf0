"""Estimate glucose uptake from meal and insulin signals with a hand-written RNN.

The recurrence is the usual Elman one, h_t = tanh(W x_t + U h_{t-1}), with a zero
initial state; the whole day (24 samples) is trained with full back-propagation
through time.
"""
import torch
import torch.nn as nn


class ElmanRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.inp = nn.Linear(input_size, hidden_size)
        self.rec = nn.Linear(hidden_size, hidden_size, bias=False)

    def forward(self, x):
        batch, steps, _ = x.shape
        h = torch.zeros(batch, self.hidden_size)
        states = []
        for t in range(steps):
            h = torch.tanh(self.inp(x[:, t]) + self.rec(h))
            states.append(h)
        return torch.stack(states, dim=1)


class UptakeModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = ElmanRNN(2, 20)
        self.head = nn.Linear(20, 1)

    def forward(self, x):
        return self.head(self.rnn(x)).squeeze(-1)


def make_days(n=32, steps=24):
    meals = (torch.rand(n, steps) < 0.15).float()
    insulin = torch.rand(n, steps)
    uptake = torch.zeros(n, steps)
    for t in range(1, steps):
        uptake[:, t] = 0.8 * uptake[:, t - 1] + 0.5 * meals[:, t - 1] * insulin[:, t - 1]
    return torch.stack([meals, insulin], dim=-1), uptake


torch.manual_seed(63)
signals, uptake = make_days()
model = UptakeModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for step in range(25):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(signals), uptake)
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(f"step {step:2d}  loss {loss.item():.5f}")
