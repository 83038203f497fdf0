"""Gradient surgery (PCGrad) for two tasks that disagree: conflicting parts are projected out before the step."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class PCGrad:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.params = [p for group in optimizer.param_groups for p in group["params"]]
        self.conflicts = 0

    def gradients(self, losses):
        """One flat gradient per loss; the graph is shared, so it has to live until the last one."""
        rows = []
        for k, loss in enumerate(losses):
            keep = k < len(losses) - 1
            grads = torch.autograd.grad(loss, self.params, retain_graph=keep, allow_unused=True)
            rows.append(torch.cat([
                (torch.zeros_like(p) if g is None else g).flatten() for p, g in zip(self.params, grads)]))
        return torch.stack(rows)

    def step(self, losses):
        original = self.gradients(losses)
        projected = original.clone()
        for i in range(len(projected)):
            for j in range(len(original)):
                inner = projected[i] @ original[j]
                if i != j and inner < 0:
                    projected[i] -= inner / original[j].square().sum() * original[j]
                    self.conflicts += 1
        flat = projected.sum(0)
        for p, piece in zip(self.params, flat.split([p.numel() for p in self.params])):
            p.grad = piece.view_as(p).clone()
        self.optimizer.step()


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 8), nn.Tanh())
        self.left, self.right = nn.Linear(8, 1), nn.Linear(8, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.left(h).squeeze(1), self.right(h).squeeze(1)


def batch(n):
    x = torch.randn(n, 6)
    return x, torch.sin(x[:, 0]) + x[:, 1], x[:, 1] - torch.cos(2 * x[:, 0])


torch.manual_seed(36)
model = TwoHeads()
surgery = PCGrad(torch.optim.Adam(model.parameters(), lr=5e-3))
for step in range(1, 121):
    x, a, b = batch(64)
    left, right = model(x)
    losses = [F.mse_loss(left, a), F.mse_loss(right, b)]
    surgery.step(losses)
    if step % 30 == 0:
        print(f"step {step}: left {losses[0].item():.4f}  right {losses[1].item():.4f}  conflicts {surgery.conflicts}")
