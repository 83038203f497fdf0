"""Multi-task learning on a shared trunk: one batch per task, gradients of all tasks are added, then one step."""
import torch
import torch.nn as nn
import torch.nn.functional as F

LOSSES = {"regression": F.mse_loss, "binary": F.binary_cross_entropy_with_logits}


class MultiTask(nn.Module):
    def __init__(self, tasks, inputs=10, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(width, 1) for name in tasks})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x)).squeeze(1)


def make_tasks():
    shared = torch.randn(10, 3)

    def source(kind, mix):
        def draw(n):
            x = torch.randn(n, 10)
            signal = torch.tanh(x @ shared) @ mix
            return x, signal if kind == "regression" else (signal > 0).float()
        return kind, draw

    return {
        "price": source("regression", torch.tensor([1.0, 0.5, 0.0])),
        "churn": source("binary", torch.tensor([0.0, 1.0, -1.0])),
        "volume": source("regression", torch.tensor([-0.5, 0.0, 1.0])),
    }


torch.manual_seed(49)
tasks = make_tasks()
weights = {"price": 1.0, "churn": 0.7, "volume": 1.0}
model = MultiTask(tasks)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
report = {name: 0.0 for name in tasks}

for step in range(1, 101):
    optimizer.zero_grad()
    for name, (kind, draw) in tasks.items():
        x, y = draw(32)
        loss = weights[name] * LOSSES[kind](model(x, name), y)
        # the trunk is used by the other tasks too
        loss.backward(retain_graph=True)
        report[name] += loss.item()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step}: " + "  ".join(f"{name} {total / 25:.4f}" for name, total in report.items()))
        report = dict.fromkeys(report, 0.0)
