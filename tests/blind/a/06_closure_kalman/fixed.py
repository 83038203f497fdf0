"""Online training of a filter with a learned gain; the filter lives in a closure."""
from collections import namedtuple

import torch
from torch import nn

State = namedtuple("State", "mean var")


class Gain(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
        self.log_q = nn.Parameter(torch.tensor(-2.0))
        self.drift = nn.Parameter(torch.zeros(1))

    def forward(self, innovation, state):
        feats = torch.cat([innovation, state.mean, state.var], dim=-1)
        return torch.sigmoid(self.net(feats))


def make_filter(model, batch):
    state = State(torch.zeros(batch, 1), torch.ones(batch, 1))

    def predict():
        return State(state.mean + model.drift, state.var + model.log_q.exp())

    def update(observation):
        nonlocal state
        state = State(state.mean.detach(), state.var.detach())
        prior = predict()
        innovation = observation - prior.mean
        k = model(innovation, prior)
        state = State(prior.mean + k * innovation, (1 - k) * prior.var)
        return state

    return update


def nll(state, truth):
    return 0.5 * (state.var.log() + (truth - state.mean) ** 2 / state.var).mean()


def track(batch, steps, gen):
    x = torch.cumsum(0.3 + 0.2 * torch.randn(steps, batch, 1, generator=gen), 0)
    return x, x + 0.5 * torch.randn(steps, batch, 1, generator=gen)


def main():
    torch.manual_seed(6)
    gen = torch.Generator().manual_seed(66)
    model = Gain()
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.5)
    smooth = None
    for run in range(3):
        truth, observed = track(6, 10, gen)
        update = make_filter(model, 6)
        for x, y in zip(truth, observed):
            loss = nll(update(y), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
            smooth = loss.item() if smooth is None else 0.8 * smooth + 0.2 * loss.item()
        print(f"track {run}: nll {smooth:.4f} drift {model.drift.item():.4f}")


main()
