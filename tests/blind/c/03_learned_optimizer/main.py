"""Learning to learn: an LSTM proposes the updates of a small quadratic problem."""
import argparse
from types import SimpleNamespace

import torch
from torch import nn


class Proposer(nn.Module):
    """One update for each coordinate, from its gradient."""

    def __init__(self, hidden=8):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTMCell(1, hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, gradient, memory):
        memory = self.lstm(gradient.unsqueeze(1), memory)
        return self.head(memory[0]).squeeze(1) * 0.1, memory


class Quadratic:
    def __init__(self, size, generator):
        self.w = torch.randn(size, size, generator=generator)
        self.y = torch.randn(size, generator=generator)

    def loss(self, theta):
        return (self.w.mv(theta) - self.y).pow(2).mean()

    def gradient(self, theta):
        return 2 * self.w.t().mv(self.w.mv(theta.detach()) - self.y) / len(self.y)


def unroll(proposer, problem, at, length):
    total = 0
    for _ in range(length):
        update, at.memory = proposer(problem.gradient(at.theta), at.memory)
        at.theta = at.theta + update
        total = total + problem.loss(at.theta)
    return total / length


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", type=int, default=5)
    parser.add_argument("--unroll", type=int, default=4)
    parser.add_argument("--horizon", type=int, default=16)
    options = parser.parse_args()
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(33)
    proposer = Proposer()
    meta = torch.optim.Adam(proposer.parameters(), lr=3e-3)
    for number in range(options.problems):
        problem = Quadratic(6, generator)
        at = SimpleNamespace(theta=torch.zeros(6), memory=(torch.zeros(6, 8), torch.zeros(6, 8)))
        for start in range(0, options.horizon, options.unroll):
            meta_loss = unroll(proposer, problem, at, options.unroll)
            meta.zero_grad()
            meta_loss.backward()
            meta.step()
        print(f"problem {number}: {problem.loss(at.theta).item():.4f}")


if __name__ == "__main__":
    main()
