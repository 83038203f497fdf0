"""Second-order MAML on wave regression, stateless calls through torch.func."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.func import functional_call

from tasks import task_batches

torch.manual_seed(1)

INNER_LR, INNER_STEPS, SHOTS = 0.02, 2, 8


class WaveNet(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                                    nn.Linear(hidden, 1))

    def forward(self, x):
        return self.layers(x)


def adapt(model, x, y, steps=INNER_STEPS, create_graph=True):
    """Inner loop: a few gradient steps, kept differentiable for the outer loop."""
    fast = dict(model.named_parameters())
    for _ in range(steps):
        loss = F.mse_loss(functional_call(model, fast, (x,)), y)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=create_graph)
        fast = {name: w - INNER_LR * g for (name, w), g in zip(fast.items(), grads)}
    return fast


class Maml:
    def __init__(self, model, lr=3e-3):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.curve = []

    def outer(self, tasks):
        query_losses = []
        for task in tasks:
            fast = adapt(self.model, *task.draw(SHOTS))
            x, y = task.draw(20)
            query_losses.append(F.mse_loss(functional_call(self.model, fast, (x,)), y))
        meta_loss = torch.stack(query_losses).mean()
        self.opt.zero_grad()
        meta_loss.backward()
        self.opt.step()
        self.curve.append(meta_loss.detach())

    def evaluate(self, tasks):
        """Adapt on the support set of each held-out task, report the query error."""
        errors = []
        for task in tasks:
            fast = adapt(self.model, *task.draw(SHOTS), create_graph=False)
            x, y = task.draw(50)
            with torch.no_grad():
                errors.append(F.mse_loss(functional_call(self.model, fast, (x,)), y).item())
        return sum(errors) / len(errors)


def main():
    maml = Maml(WaveNet())
    held_out = next(task_batches(1, 6, seed=99))
    for i, tasks in enumerate(task_batches(30, 4, seed=7)):
        maml.outer(tasks)
        if (i + 1) % 10 == 0:
            recent = torch.stack(maml.curve[-10:]).mean().item()
            print(f"{i + 1:3d}  meta loss {recent:.4f}  held-out {maml.evaluate(held_out):.4f}")


if __name__ == "__main__":
    main()
