"""Matching of two descriptions of the same objects: every row must find its column and every column its row."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Matcher(nn.Module):
    def __init__(self, d_query, d_doc, dim=16):
        super().__init__()
        self.query = nn.Sequential(nn.Linear(d_query, 32), nn.GELU(), nn.Linear(32, dim))
        self.doc = nn.Sequential(nn.Linear(d_doc, 32), nn.GELU(), nn.Linear(32, dim))

    def forward(self, q, d):
        return 8 * F.normalize(self.query(q), dim=1) @ F.normalize(self.doc(d), dim=1).T


def objects(n, a, b):
    latent = torch.randn(n, a.shape[0])
    return latent @ a + 0.2 * torch.randn(n, a.shape[1]), latent @ b + 0.2 * torch.randn(n, b.shape[1])


def recall_at_1(scores):
    return (scores.argmax(1) == torch.arange(len(scores))).float().mean().item()


def main(args):
    torch.manual_seed(args.seed)
    a, b = torch.randn(6, 18), torch.randn(6, 12)
    model = Matcher(18, 12)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)

    for step in range(args.steps):
        q, d = objects(args.batch, a, b)
        scores = model(q, d)
        truth = torch.arange(args.batch)

        opt.zero_grad(set_to_none=True)
        forward_loss = F.cross_entropy(scores, truth)
        reverse_loss = F.cross_entropy(scores.T, truth)
        (forward_loss + reverse_loss).backward()
        opt.step()

        if step % 25 == 0:
            print(f"step {step:3d}  row {forward_loss.item():.3f}  column {reverse_loss.item():.3f}  recall {recall_at_1(scores):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=53)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--steps", type=int, default=101)
    parser.add_argument("--lr", type=float, default=3e-3)
    main(parser.parse_args())
