"""Credit scoring with a representation from which an adversary should not read the applicant's group."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def cli():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--lam", type=float, default=0.4, help="weight of the adversary in the encoder's objective")
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--adv-lr", type=float, default=1e-2)
    p.add_argument("--seed", type=int, default=31)
    return p.parse_args()


def applicants(n, seed):
    g = torch.Generator().manual_seed(seed)
    group = torch.randint(2, (n,), generator=g)
    merit = torch.randn(n, generator=g)
    x = torch.randn(n, 12, generator=g)
    x[:, :4] += merit.unsqueeze(1)
    x[:, 4:8] += 1.2 * (2 * group - 1).unsqueeze(1)
    repaid = (merit + 0.3 * (2 * group - 1) + 0.4 * torch.randn(n, generator=g) > 0).float()
    return TensorDataset(x, repaid, group)


def block(sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class FairScorer:
    def __init__(self, args):
        self.lam = args.lam
        self.nets = nn.ModuleDict({
            "encoder": block([12, 32, 16]),
            "scorer": block([16, 16, 1]),
            "adversary": block([16, 24, 2]),
        })
        main = list(self.nets["encoder"].parameters()) + list(self.nets["scorer"].parameters())
        self.opts = {
            "main": torch.optim.Adam(main, lr=args.lr),
            "adversary": torch.optim.Adam(self.nets["adversary"].parameters(), lr=args.adv_lr),
        }

    def train_batch(self, x, repaid, group):
        z = self.nets["encoder"](x)
        score = self.nets["scorer"](z).squeeze(1)
        guess = self.nets["adversary"](z)

        task_loss = F.binary_cross_entropy_with_logits(score, repaid)
        leak = F.cross_entropy(guess, group)
        self.opts["main"].zero_grad()
        (task_loss - self.lam * leak).backward()
        self.opts["main"].step()

        adv_loss = F.cross_entropy(self.nets["adversary"](z.detach()), group)
        self.opts["adversary"].zero_grad()
        adv_loss.backward()
        self.opts["adversary"].step()
        return {"task": task_loss.item(), "adversary": adv_loss.item()}

    @torch.no_grad()
    def report(self, data):
        x, repaid, group = data.tensors
        z = self.nets["encoder"](x)
        yes = (self.nets["scorer"](z).squeeze(1) > 0).float()
        acc = (yes == repaid).float().mean().item()
        gap = (yes[group == 1].mean() - yes[group == 0].mean()).abs().item()
        read = (self.nets["adversary"](z).argmax(1) == group).float().mean().item()
        return f"acc {acc:.3f}  parity gap {gap:.3f}  group read {read:.3f}"


def main():
    args = cli()
    torch.manual_seed(args.seed)
    loader = DataLoader(applicants(640, 1), batch_size=args.batch, shuffle=True)
    test = applicants(400, 2)
    model = FairScorer(args)
    for epoch in range(args.epochs):
        logs = [model.train_batch(*batch) for batch in loader]
        mean = {k: sum(l[k] for l in logs) / len(logs) for k in logs[0]}
        print(f"epoch {epoch + 1}: " + "  ".join(f"{k} {v:.4f}" for k, v in mean.items())
              + "  |  " + model.report(test))


if __name__ == "__main__":
    main()
