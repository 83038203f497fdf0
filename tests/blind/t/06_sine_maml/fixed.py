import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class SineTasks:
    def __init__(self, shots, seed):
        self.shots = shots
        self.gen = torch.Generator().manual_seed(seed)

    def sample(self):
        amplitude = 1.0 + 1.0 * torch.rand((), generator=self.gen)
        phase = math.pi * torch.rand((), generator=self.gen)
        x = 4 * torch.rand(2 * self.shots, 1, generator=self.gen) - 2
        y = amplitude * torch.sin(x + phase)
        return (x[:self.shots], y[:self.shots]), (x[self.shots:], y[self.shots:])

    def batch(self, n):
        return [self.sample() for _ in range(n)]


def build_regressor(width):
    return nn.Sequential(
        nn.Linear(1, width), nn.Tanh(),
        nn.Linear(width, width), nn.Tanh(),
        nn.Linear(width, 1),
    )


class MetaLearner:
    """Learns an initialisation (and one step size per tensor) that adapts in a few gradient steps."""

    def __init__(self, model, inner_lr, inner_steps, meta_lr):
        self.model = model
        self.inner_steps = inner_steps
        self.step_sizes = {
            name: torch.tensor(inner_lr, requires_grad=True) for name, _ in model.named_parameters()
        }
        self.meta_opt = torch.optim.Adam([
            {"params": model.parameters(), "lr": meta_lr},
            {"params": list(self.step_sizes.values()), "lr": meta_lr * 0.1},
        ])

    def adapt(self, x, y):
        fast = {name: p.clone() for name, p in self.model.named_parameters()}
        for _ in range(self.inner_steps):
            loss = F.mse_loss(functional_call(self.model, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            for (name, weight), grad in zip(fast.items(), grads):
                fast[name] = weight - self.step_sizes[name] * grad
        return fast

    def meta_step(self, tasks):
        query_losses, before = [], 0.0
        for (xs, ys), (xq, yq) in tasks:
            with torch.no_grad():
                before += F.mse_loss(self.model(xq), yq).item()
            fast = self.adapt(xs, ys)
            query_losses.append(F.mse_loss(functional_call(self.model, fast, (xq,)), yq))
        meta_loss = torch.stack(query_losses).mean()
        self.meta_opt.zero_grad()
        meta_loss.backward()
        self.meta_opt.step()
        return before / len(tasks), meta_loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots", type=int, default=10)
    parser.add_argument("--meta-batch", type=int, default=8)
    parser.add_argument("--meta-steps", type=int, default=40)
    parser.add_argument("--inner-steps", type=int, default=2)
    parser.add_argument("--inner-lr", type=float, default=0.1)
    parser.add_argument("--meta-lr", type=float, default=5e-3)
    parser.add_argument("--width", type=int, default=32)
    args = parser.parse_args()

    torch.manual_seed(1)
    tasks = SineTasks(args.shots, seed=1)
    learner = MetaLearner(build_regressor(args.width), args.inner_lr, args.inner_steps, args.meta_lr)
    for step in range(args.meta_steps):
        before, after = learner.meta_step(tasks.batch(args.meta_batch))
        if step % 8 == 0 or step == args.meta_steps - 1:
            print(f"meta-step {step:2d}: query loss {before:.3f} -> {after:.3f}")


if __name__ == "__main__":
    main()
