"""MAML on sine regression with functional_call."""
import argparse

import torch
from torch import nn
from torch.func import functional_call


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.body(x))


class SineTasks:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def sample(self, shots):
        amp = 0.5 + torch.rand(1, generator=self.gen) * 1.5
        phase = torch.rand(1, generator=self.gen) * 3.14
        x = 6 * torch.rand(2 * shots, 1, generator=self.gen) - 3
        y = amp * torch.sin(x + phase)
        return (x[:shots], y[:shots]), (x[shots:], y[shots:])


def adapt(net, fast, support, lr, inner_steps):
    x, y = support
    for _ in range(inner_steps):
        loss = nn.functional.mse_loss(functional_call(net, fast, (x,)), y)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        fast = {k: v - lr * g for (k, v), g in zip(fast.items(), grads)}
    return fast


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iterations", type=int, default=15)
    ap.add_argument("--tasks", type=int, default=3)
    ap.add_argument("--inner-lr", type=float, default=0.05)
    args = ap.parse_args()
    torch.manual_seed(31)
    net, tasks = Net(), SineTasks(310)
    meta_opt = torch.optim.Adam(net.parameters(), lr=0.01)
    history = []
    for it in range(args.iterations):
        meta_opt.zero_grad()
        meta = 0.0
        for _ in range(args.tasks):
            support, query = tasks.sample(8)
            fast = adapt(net, dict(net.named_parameters()), support, args.inner_lr, inner_steps=2)
            q_loss = nn.functional.mse_loss(functional_call(net, fast, (query[0],)), query[1])
            (q_loss / args.tasks).backward()
            meta += q_loss.item() / args.tasks
        meta_opt.step()
        history.append(meta)
        if it % 5 == 4:
            print(f"iteration {it + 1}: query loss {sum(history[-5:]) / 5:.4f}")


if __name__ == "__main__":
    main()
