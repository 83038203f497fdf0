"""Neural ODE fitted to pieces of a spiral by differentiating through the integrator."""
import argparse

import torch

from solver import BogackiShampine
from systems import Field, Spiral


def train(args):
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    data = Spiral()
    field = Field(args.hidden)
    solver = BogackiShampine(field, substeps=args.substeps)
    optimizer = torch.optim.RMSprop(field.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.98)

    smoothed = None
    for it in range(args.iterations):
        times, target = data.batch(args.batch, args.length, gen)
        predicted = torch.stack(solver.trajectory(target[0], times))
        loss = (predicted - target).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        value = loss.item()
        smoothed = value if smoothed is None else 0.9 * smoothed + 0.1 * value
        if it % 10 == 0 or it == args.iterations - 1:
            print(f"iter {it:3d} loss {value:.4f} smoothed {smoothed:.4f} evaluations {solver.evaluations}")

    with torch.no_grad():
        times, target = data.batch(64, args.length, gen)
        predicted = torch.stack(solver.trajectory(target[0], times))
        print(f"held-out error {(predicted - target).abs().mean().item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--length", type=int, default=6)
    parser.add_argument("--substeps", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=40)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=17)
    train(parser.parse_args())
