"""Federated averaging of a readmission model over a few hospitals."""
import argparse

import torch
from torch import nn

from client import Client
from data import make_sites
from server import Server


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=4)
    ap.add_argument("--sites", type=int, default=3)
    ap.add_argument("--local-steps", type=int, default=4)
    ap.add_argument("--lr", type=float, default=0.3)
    args = ap.parse_args()

    torch.manual_seed(0)
    dim = 12
    model = nn.Sequential(nn.Linear(dim, 24), nn.Tanh(), nn.Linear(24, 1))
    clients = [
        Client(f"site{k}", data, args.lr, args.local_steps, batch_size=32, seed=100 + k)
        for k, data in enumerate(make_sites(args.sites, dim, seed=1))
    ]
    server = Server(model, clients)

    print(f"start: global loss {server.evaluate():.4f}")
    for r in range(args.rounds):
        losses = server.round()
        local = " ".join(f"{v:.3f}" for v in losses)
        print(f"round {r}: local [{local}] global loss {server.evaluate():.4f}")


if __name__ == "__main__":
    main()
