"""Gradient normalization (GradNorm) for a robot model with three outputs of very different size."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Args:
    epochs: int = 6
    batch_size: int = 64
    alpha: float = 1.0
    lr: float = 5e-3
    weight_lr: float = 2e-2


def drive_data(n=320):
    g = torch.Generator().manual_seed(31)
    x = torch.randn(n, 6, generator=g)
    steer = torch.tanh(x[:, 0] + x[:, 1])
    current = 5 * (x[:, 2] ** 2 - x[:, 3])
    slip = 0.2 * torch.sin(2 * x[:, 4]) * x[:, 5]
    targets = {"steer": steer, "current": current, "slip": slip}
    return x, {k: v + 0.02 * torch.randn(n, generator=g) for k, v in targets.items()}


class DriveNet(nn.Module):
    def __init__(self, tasks, hidden=40):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, hidden), nn.ReLU())
        self.shared = nn.Linear(hidden, hidden)
        self.heads = nn.ModuleDict({t: nn.Linear(hidden, 1) for t in tasks})

    def forward(self, x):
        h = F.relu(self.shared(self.body(x)))
        return {t: head(h).squeeze(-1) for t, head in self.heads.items()}


class GradNormBalancer:
    def __init__(self, tasks, shared_weight, alpha, lr):
        self.weights = torch.ones(len(tasks), requires_grad=True)
        self.shared_weight = shared_weight
        self.alpha = alpha
        self.initial = None
        self.optimizer = torch.optim.Adam([self.weights], lr=lr)

    def balance(self, losses):
        """Gradient of the balance loss for the task weights; the model's own gradients stay as they are."""
        if self.initial is None:
            self.initial = losses.detach()
        norms = []
        for w, loss in zip(self.weights, losses):
            (g,) = torch.autograd.grad(w * loss, self.shared_weight, retain_graph=True, create_graph=True)
            norms.append(g.norm())
        norms = torch.stack(norms)
        with torch.no_grad():
            rate = losses / self.initial
            goal = norms.mean() * (rate / rate.mean()) ** self.alpha
        mismatch = (norms - goal).abs().sum()
        (self.weights.grad,) = torch.autograd.grad(mismatch, [self.weights])
        return mismatch.item()

    def update(self):
        self.optimizer.step()
        with torch.no_grad():
            self.weights.clamp_(min=0.05)
            self.weights.mul_(len(self.weights) / self.weights.sum())


def main(args):
    torch.manual_seed(0)
    x, targets = drive_data()
    tasks = list(targets)
    net = DriveNet(tasks)
    balancer = GradNormBalancer(tasks, net.shared.weight, args.alpha, args.weight_lr)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        running, gap, steps = torch.zeros(len(tasks)), 0.0, 0
        for idx in torch.randperm(len(x)).split(args.batch_size):
            outputs = net(x[idx])
            losses = torch.stack([F.mse_loss(outputs[t], targets[t][idx]) for t in tasks])
            optimizer.zero_grad()
            (balancer.weights * losses).sum().backward(retain_graph=True)
            gap += balancer.balance(losses)
            optimizer.step()
            balancer.update()
            running += losses.detach()
            steps += 1
        shown = "  ".join(f"{t} {l:.4f} (w {w:.2f})" for t, l, w in
                          zip(tasks, (running / steps).tolist(), balancer.weights.tolist()))
        print(f"epoch {epoch}: gap {gap / steps:.3f}  {shown}")


if __name__ == "__main__":
    main(Args())
