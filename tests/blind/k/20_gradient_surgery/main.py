"""Gradient surgery (PCGrad, Yu et al. 2020) for three regression tasks.

Task gradients that point against one another are projected before they are
summed.  The combined gradient is written to the parameters' .grad.
"""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class PCGrad:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.params = [p for g in optimizer.param_groups for p in g["params"]]
        self.conflicts = 0

    def _flat(self):
        return torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten()
                          for p in self.params])

    def _per_task(self, losses):
        flats = []
        for i, loss in enumerate(losses):
            self.optimizer.zero_grad()
            loss.backward(retain_graph=i + 1 < len(losses))
            flats.append(self._flat())
        return flats

    def _project(self, flats):
        out = []
        for g in flats:
            g = g.clone()
            others = list(flats)
            random.shuffle(others)
            for other in others:
                dot = g @ other
                if dot < 0:
                    g -= dot / other.dot(other) * other
                    self.conflicts += 1
            out.append(g)
        return torch.stack(out).sum(dim=0)

    def _write(self, flat):
        offset = 0
        for p in self.params:
            n = p.numel()
            p.grad = flat[offset:offset + n].view_as(p).clone()
            offset += n

    def step(self, losses):
        self._write(self._project(self._per_task(losses)))
        self.optimizer.step()


class RobotNet(nn.Module):
    """Shared torso; heads for reach, push and lift."""

    def __init__(self, obs=14, width=24):
        super().__init__()
        self.torso = nn.Sequential(nn.Linear(obs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.heads = nn.ModuleList([nn.Linear(width, 2) for _ in range(3)])

    def forward(self, x):
        z = self.torso(x)
        return [head(z) for head in self.heads]


class Demonstrations:
    def __init__(self, obs=14):
        base = torch.randn(obs, 2)
        self.maps = [base, -base + 0.3 * torch.randn(obs, 2), torch.randn(obs, 2)]

    def sample(self, n=24):
        x = torch.randn(n, self.maps[0].size(0))
        return x, [torch.tanh(x @ m) for m in self.maps]


def main():
    torch.manual_seed(41)
    random.seed(41)
    demos = Demonstrations()
    net = RobotNet()
    surgeon = PCGrad(torch.optim.Adam(net.parameters(), lr=3e-3))
    for it in range(30):
        x, targets = demos.sample()
        losses = [F.mse_loss(o, t) for o, t in zip(net(x), targets)]
        surgeon.step(losses)
        if it % 10 == 9:
            values = " ".join(f"{l.item():.4f}" for l in losses)
            print(f"it {it + 1:2d}  {values}  conflicts {surgeon.conflicts}")


if __name__ == "__main__":
    main()
