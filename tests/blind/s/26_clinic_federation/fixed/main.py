"""Federated readmission model over four clinics with very different patients."""
import argparse

import torch
from torch import nn

from client import Clinic


def patients(shift, slope, n, g):
    x = torch.randn(n, 8, generator=g) + shift
    score = x @ slope + 0.5 * torch.randn(n, generator=g)
    return x, (score > score.median()).float()


def make_clinics(args):
    g = torch.Generator().manual_seed(args.seed)
    base = torch.randn(8, generator=g)
    clinics = []
    for k, name in enumerate(["north", "south", "harbour", "hill"]):
        slope = base + 1.5 * torch.randn(8, generator=g)
        x, y = patients(0.8 * (k - 1.5), slope, 80, g)
        clinics.append(Clinic(name, x, y, args.lr, args.mu))
    return clinics


def average(states):
    return {key: torch.stack([s[key] for s in states]).mean(0) for key in states[0]}


def pooled_accuracy(model, clinics):
    with torch.no_grad():
        hits = [((model(c.x).squeeze(1) > 0).float() == c.y).float().mean() for c in clinics]
    return torch.stack(hits).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--local-steps", type=int, default=5)
    ap.add_argument("--lr", type=float, default=0.5)
    ap.add_argument("--mu", type=float, default=1.0)
    ap.add_argument("--seed", type=int, default=8)
    args = ap.parse_args()

    torch.manual_seed(args.seed)
    clinics = make_clinics(args)
    server = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    for r in range(args.rounds):
        states, reports = [], []
        for clinic in clinics:
            state, report = clinic.train(server, args.local_steps)
            states.append(state)
            reports.append(report)
        server.load_state_dict(average(states))
        loss = sum(rep["loss"] for rep in reports) / len(reports)
        drift = sum(rep["drift"] for rep in reports) / len(reports)
        print(f"round {r}  local loss {loss:.4f}  drift {drift:.4f}  "
              f"pooled accuracy {pooled_accuracy(server, clinics):.3f}")


if __name__ == "__main__":
    main()
