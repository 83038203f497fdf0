"""Soft actor-critic with a learned temperature on a noisy double integrator."""
import argparse

import torch

from agent import SoftActorCritic


def collect(n, seed):
    gen = torch.Generator().manual_seed(seed)
    state = 2 * torch.rand(n, 2, generator=gen) - 1
    action = 2 * torch.rand(n, 1, generator=gen) - 1
    pos, vel = state[:, :1], state[:, 1:]
    nxt = torch.cat([pos + 0.2 * vel, 0.9 * vel + 0.3 * action], 1)
    nxt = nxt + 0.02 * torch.randn(n, 2, generator=gen)
    reward = -(nxt[:, :1] ** 2 + 0.1 * nxt[:, 1:] ** 2 + 0.01 * action ** 2)
    return {"state": state, "action": action, "reward": reward, "next_state": nxt}


class Replay:
    def __init__(self, data, batch_size):
        self.data, self.batch_size = data, batch_size
        self.size = len(data["reward"])

    def __iter__(self):
        for idx in torch.randperm(self.size).split(self.batch_size):
            yield {k: v[idx] for k, v in self.data.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--transitions", type=int, default=384)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--tau", type=float, default=0.05)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=21)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    replay = Replay(collect(args.transitions, args.seed), args.batch_size)
    agent = SoftActorCritic(2, 1, args)
    for epoch in range(args.epochs):
        logs = [agent.update(batch) for batch in replay]
        mean = {k: sum(entry[k] for entry in logs) / len(logs) for k in logs[0]}
        print(f"epoch {epoch}: " + "  ".join(f"{k} {v:.4f}" for k, v in mean.items()))


if __name__ == "__main__":
    main()
