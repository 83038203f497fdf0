"""Behaviour cloning for a family of arms: a hypernetwork writes the controller of each arm."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

OBS, HIDDEN, ACT = 6, 16, 2


class HyperNet(nn.Module):
    """Maps an arm's embedding to the weights of a two-layer controller."""

    shapes = {"w1": (HIDDEN, OBS), "b1": (HIDDEN,), "w2": (ACT, HIDDEN), "b2": (ACT,)}

    def __init__(self, arms, code=8):
        super().__init__()
        self.codes = nn.Embedding(arms, code)
        self.body = nn.Sequential(nn.Linear(code, 32), nn.Tanh())
        self.heads = nn.ModuleDict()
        for name, shape in self.shapes.items():
            head = nn.Linear(32, torch.Size(shape).numel())
            nn.init.normal_(head.weight, std=0.08)
            nn.init.zeros_(head.bias)
            self.heads[name] = head

    def forward(self, arm):
        z = self.body(self.codes(torch.tensor(arm)))
        return {name: self.heads[name](z).view(shape) for name, shape in self.shapes.items()}


class ArmController:
    """Runs the controller that belongs to the arm in hand."""

    def __init__(self, hyper):
        self.hyper = hyper
        self.arm = None
        self.weights = None

    def select(self, arm):
        if arm != self.arm:
            self.weights = self.hyper(arm)
            self.arm = arm

    def act(self, obs):
        w = self.weights
        h = torch.tanh(F.linear(obs, w["w1"], w["b1"]))
        return F.linear(h, w["w2"], w["b2"])


class Demonstrations:
    def __init__(self, arms, per_arm, seed):
        g = torch.Generator().manual_seed(seed)
        self.gains = torch.randn(arms, ACT, OBS, generator=g) * 0.6
        self.obs = torch.randn(arms, per_arm, OBS, generator=g)
        self.act = torch.einsum("aij,anj->ani", self.gains, self.obs).tanh()

    def batches(self, arm, size):
        for i in range(0, self.obs.shape[1], size):
            yield self.obs[arm, i:i + size], self.act[arm, i:i + size]


def run_epoch(controller, demos, arms, optimizer, batch):
    seen, total = 0, 0.0
    for arm in range(arms):
        for obs, act in demos.batches(arm, batch):
            controller.select(arm)
            loss = F.mse_loss(controller.act(obs), act)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            seen += 1
    return total / seen


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--arms", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()

    torch.manual_seed(7)
    demos = Demonstrations(args.arms, per_arm=96, seed=7)
    hyper = HyperNet(args.arms)
    controller = ArmController(hyper)
    optimizer = torch.optim.Adam(hyper.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        print(f"epoch {epoch}  imitation loss {run_epoch(controller, demos, args.arms, optimizer, args.batch):.4f}")


if __name__ == "__main__":
    main()
