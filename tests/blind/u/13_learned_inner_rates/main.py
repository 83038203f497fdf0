"""Meta-SGD on sine waves: the initial weights and a learning rate for each of them are meta-learned."""
import argparse
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


@dataclass
class SineTask:
    amplitude: float
    phase: float

    def sample(self, n, gen):
        x = torch.empty(n, 1).uniform_(-5, 5, generator=gen)
        return x, self.amplitude * torch.sin(x + self.phase)


def task_stream(gen):
    while True:
        u = torch.rand(2, generator=gen)
        yield SineTask(0.5 + 2.0 * u[0].item(), math.pi * u[1].item())


class Regressor(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x)


class MetaSGD(nn.Module):
    def __init__(self, model, inner_lr, inner_steps):
        super().__init__()
        self.model = model
        self.inner_steps = inner_steps
        self.log_rates = nn.ParameterDict({
            name.replace(".", "_"): nn.Parameter(torch.full_like(p, math.log(inner_lr)))
            for name, p in model.named_parameters()
        })

    def adapt(self, x, y, create_graph=True):
        fast = dict(self.model.named_parameters())
        for _ in range(self.inner_steps):
            loss = F.mse_loss(functional_call(self.model, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=create_graph)
            fast = {
                name: w - self.log_rates[name.replace(".", "_")].exp() * g
                for (name, w), g in zip(fast.items(), grads)
            }
        return fast

    def query_loss(self, fast, x, y):
        return F.mse_loss(functional_call(self.model, fast, (x,)), y)


def evaluate(learner, tasks, gen, n):
    before = after = 0.0
    for _ in range(n):
        task = next(tasks)
        xs, ys = task.sample(10, gen)
        xq, yq = task.sample(40, gen)
        fast = learner.adapt(xs, ys, create_graph=False)
        with torch.no_grad():
            before += F.mse_loss(learner.model(xq), yq).item() / n
            after += learner.query_loss(fast, xq, yq).item() / n
    return before, after


def main(args):
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    tasks = task_stream(gen)
    learner = MetaSGD(Regressor(), args.inner_lr, args.inner_steps)
    meta_opt = torch.optim.Adam(learner.parameters(), lr=args.lr)
    for it in range(args.iterations):
        meta_opt.zero_grad()
        total = 0.0
        for _ in range(args.tasks):
            task = next(tasks)
            fast = learner.adapt(*task.sample(10, gen))
            loss = learner.query_loss(fast, *task.sample(10, gen)) / args.tasks
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(learner.parameters(), 5.0)
        meta_opt.step()
        if it % 10 == 0 or it == args.iterations - 1:
            print(f"iteration {it:3d} meta loss {total:.4f}")
    eval_gen = torch.Generator().manual_seed(args.seed + 1)
    before, after = evaluate(learner, task_stream(eval_gen), eval_gen, 20)
    print(f"new tasks: before {before:.3f} after {after:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--tasks", type=int, default=6)
    parser.add_argument("--inner-steps", type=int, default=2)
    parser.add_argument("--inner-lr", type=float, default=0.05)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--seed", type=int, default=6)
    main(parser.parse_args())
