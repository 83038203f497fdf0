"""Train one network on several domains in turn: one update for each domain, hard domains first."""
import torch
from torch import nn
from torch.nn import functional as F


def domain(shift, n=160):
    x = torch.randn(n, 6) + shift
    return x, torch.sin(x[:, :1] + x[:, 1:2]) + 0.3 * shift


class Curriculum:
    def __init__(self, net, domains, lr=5e-2, seed=0):
        self.net, self.domains = net, domains
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.8)
        self.generator = torch.Generator().manual_seed(seed)
        self.difficulty = {name: 1.0 for name in domains}
        self.updates = 0

    def batches(self, size=32):
        for name in sorted(self.domains, key=self.difficulty.get, reverse=True):
            x, y = self.domains[name]
            rows = torch.randint(len(x), (size,), generator=self.generator)
            yield name, x[rows], y[rows]

    def round(self):
        for name, x, y in self.batches():
            loss = F.mse_loss(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.updates += 1
            self.difficulty[name] = 0.8 * self.difficulty[name] + 0.2 * loss.item()


def main():
    torch.manual_seed(45)
    domains = {"low": domain(-1.0), "middle": domain(0.0), "high": domain(1.0)}
    net = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
    training = Curriculum(net, domains)
    for number in range(60):
        training.round()
        if number % 15 == 14:
            shown = {name: round(value, 3) for name, value in training.difficulty.items()}
            print(f"{training.updates} updates: {shown}")


main()
