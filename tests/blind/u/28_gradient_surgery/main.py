"""Driver monitoring: gaze, drowsiness and distraction share an encoder; conflicting task gradients are projected."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Monitor(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.gaze = nn.Linear(width, 2)
        self.drowsy = nn.Linear(width, 1)
        self.distracted = nn.Linear(width, 3)

    def forward(self, x):
        h = self.encoder(x)
        return self.gaze(h), self.drowsy(h).squeeze(-1), self.distracted(h)


def make_drivers(n, inputs, seed):
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(n, inputs, generator=gen)
    w = torch.randn(inputs, 6, generator=gen) / inputs ** 0.5
    z = x @ w
    return x, z[:, :2], (z[:, 2] - z[:, 0] > 0).float(), z[:, 3:].argmax(dim=1)


def flatten(grads, params):
    return torch.cat([
        (torch.zeros_like(p) if g is None else g).flatten() for g, p in zip(grads, params)
    ])


def project(grads, generator):
    """PCGrad: each task's gradient loses its components against the others."""
    projected = [g.clone() for g in grads]
    for i, g in enumerate(projected):
        for j in torch.randperm(len(grads), generator=generator).tolist():
            if j == i:
                continue
            dot = torch.dot(g, grads[j])
            if dot < 0:
                g -= dot / grads[j].norm() ** 2 * grads[j]
    return torch.stack(projected).sum(dim=0)


def assign(flat, params):
    offset = 0
    for p in params:
        n = p.numel()
        p.grad = flat[offset:offset + n].view_as(p).clone()
        offset += n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch-size", type=int, default=48)
    ap.add_argument("--lr-encoder", type=float, default=2e-3)
    ap.add_argument("--lr-heads", type=float, default=6e-3)
    args = ap.parse_args()

    torch.manual_seed(5)
    x, gaze, drowsy, distracted = make_drivers(384, 14, seed=77)
    model = Monitor(14, 32)
    shared = list(model.encoder.parameters())
    heads = [p for m in (model.gaze, model.drowsy, model.distracted) for p in m.parameters()]
    opt_encoder = torch.optim.Adam(shared, lr=args.lr_encoder)
    opt_heads = torch.optim.Adam(heads, lr=args.lr_heads)
    gen = torch.Generator().manual_seed(6)

    for epoch in range(args.epochs):
        sums, steps = [0.0, 0.0, 0.0], 0
        for idx in torch.randperm(len(x), generator=gen).split(args.batch_size):
            g_hat, s_hat, d_hat = model(x[idx])
            losses = [
                F.mse_loss(g_hat, gaze[idx]),
                F.binary_cross_entropy_with_logits(s_hat, drowsy[idx]),
                F.cross_entropy(d_hat, distracted[idx]),
            ]
            opt_heads.zero_grad()
            task_grads = []
            for loss in losses:
                grads = torch.autograd.grad(loss, shared, retain_graph=True)
                task_grads.append(flatten(grads, shared))
            sum(losses).backward(inputs=heads)
            assign(project(task_grads, gen), shared)
            opt_encoder.step()
            opt_heads.step()
            sums = [s + v.item() for s, v in zip(sums, losses)]
            steps += 1
        print(f"epoch {epoch}: " + " ".join(f"{s / steps:.4f}" for s in sums))


if __name__ == "__main__":
    main()
