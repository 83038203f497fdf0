"""Adapt a bar/blob/cross classifier from clean pictures to dim, shifted ones without labels."""
import argparse

import torch

from networks import Classifier, Extractor
from solver import Solver


def pictures(n, seed, shift=0.0, gain=2.0):
    g = torch.Generator().manual_seed(seed)
    x = 0.15 * torch.randn(n, 1, 12, 12, generator=g) + shift
    y = torch.randint(0, 3, (n,), generator=g)
    for i in range(n):
        r, c = torch.randint(5, 7, (2,), generator=g).tolist()
        if y[i] == 0:
            x[i, 0, r, c - 2:c + 4] += gain
        elif y[i] == 1:
            x[i, 0, r - 1:r + 2, c - 1:c + 2] += gain
        else:
            x[i, 0, r, c - 2:c + 3] += gain
            x[i, 0, r - 2:r + 3, c] += gain
    return x, y


def target_accuracy(solver, x, y):
    solver.C1.eval(), solver.C2.eval()
    with torch.no_grad():
        feat = solver.G(x)
        logits = solver.C1(feat) + solver.C2(feat)
    solver.C1.train(), solver.C2.train()
    return (logits.argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=96)
    parser.add_argument("--num-k", type=int, default=2)
    args = parser.parse_args()

    torch.manual_seed(0)
    xs, ys = pictures(192, seed=1)
    xt, yt = pictures(192, seed=2, shift=0.3, gain=1.5)
    solver = Solver(Extractor(), Classifier(), Classifier(), lr=1e-2, num_k=args.num_k)
    for epoch in range(args.epochs):
        src = torch.randperm(len(xs)).split(args.batch_size)
        tgt = torch.randperm(len(xt)).split(args.batch_size)
        logs = [solver.train_batch(xs[i], ys[i], xt[j]) for i, j in zip(src, tgt)]
        loss_s, loss_dis = (sum(v) / len(logs) for v in zip(*logs))
        acc = target_accuracy(solver, xt, yt)
        print(f"epoch {epoch}: source {loss_s:.4f}  discrepancy {loss_dis:.4f}  target acc {acc:.3f}")


if __name__ == "__main__":
    main()
