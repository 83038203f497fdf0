"""Delivery-time model with late labels.

A promise (mean, spread) is made for an order when it comes in; the true time is known some
ticks later.  The output made at order time is kept, with its graph, until the label arrives.
The weights change only at closing time, when every order of the day has been delivered, so
each kept graph is still that of the present weights, and is differentiated exactly once.
"""
import random
import torch
from torch import nn


class Courier(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU())
        self.mean = nn.Linear(24, 1)
        self.log_spread = nn.Linear(24, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), self.log_spread(h)


class Desk:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=5e-3)
        self.pending = {}
        self.day_loss = 0.0
        self.delivered = 0

    def order(self, number, x):
        self.pending[number] = self.model(x)

    def deliver(self, number, took):
        mean, log_spread = self.pending.pop(number)
        z = (took - mean) / log_spread.exp()
        self.day_loss = self.day_loss + (0.5 * z ** 2 + log_spread).sum()
        self.delivered += 1

    def close(self):
        assert not self.pending
        loss = self.day_loss / self.delivered
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.day_loss, self.delivered = 0.0, 0
        return loss.item()


def one_day(desk, rng, w, orders=30):
    features = torch.randn(orders, 5)
    took = features @ w + 0.2 * torch.randn(orders)
    due = {}
    tick = number = 0
    while number < orders or due:
        if number < orders:
            desk.order(number, features[number])
            due.setdefault(tick + rng.randint(1, 8), []).append(number)
            number += 1
        for n in due.pop(tick, []):
            desk.deliver(n, took[n])
        tick += 1
    return desk.close()


def main():
    torch.manual_seed(9)
    rng = random.Random(9)
    w = torch.randn(5)
    desk = Desk(Courier())
    for day in range(20):
        loss = one_day(desk, rng, w)
        if day % 5 == 0:
            print(f"day {day:2d}  nll {loss:.4f}")


main()
