"""Differentially private training: clip every sample's gradient, add noise, average."""
import argparse

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, d=6, width=10, classes=3):
        super().__init__()
        self.fc1 = nn.Linear(d, width)
        self.fc2 = nn.Linear(width, classes)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


def private_gradients(model, losses, max_norm, noise, gen):
    """Leave the clipped, noised mean of the per-sample gradients in p.grad."""
    params = [p for p in model.parameters() if p.requires_grad]
    sums = [torch.zeros_like(p) for p in params]
    norms = []
    for loss in losses:
        for p in params:
            p.grad = None
        loss.backward(retain_graph=True)
        norm = torch.sqrt(sum((p.grad ** 2).sum() for p in params))
        scale = min(1.0, max_norm / (norm.item() + 1e-6))
        for s, p in zip(sums, params):
            s.add_(p.grad, alpha=scale)
        norms.append(norm.item())
    for s, p in zip(sums, params):
        s.add_(noise * max_norm * torch.randn(s.shape, generator=gen))
        p.grad = s / len(losses)
    return sum(norms) / len(norms)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--max-norm", type=float, default=1.0)
    ap.add_argument("--noise", type=float, default=0.05)
    ap.add_argument("--epochs", type=int, default=5)
    args = ap.parse_args()
    torch.manual_seed(23)
    gen = torch.Generator().manual_seed(230)
    centres = 1.5 * torch.randn(3, 6)
    y = torch.randint(0, 3, (40,))
    x = centres[y] + 0.5 * torch.randn(40, 6)
    model = Classifier()
    opt = torch.optim.SGD(model.parameters(), lr=0.5)
    criterion = nn.CrossEntropyLoss(reduction="none")
    for epoch in range(args.epochs):
        total = 0.0
        for idx in torch.randperm(40).split(10):
            losses = criterion(model(x[idx]), y[idx])
            norm = private_gradients(model, losses, args.max_norm, args.noise, gen)
            opt.step()
            total += losses.mean().item()
        print(f"epoch {epoch}: loss {total / 4:.4f} mean norm {norm:.3f}")


if __name__ == "__main__":
    main()
