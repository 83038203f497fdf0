"""Two tasks whose conflicting gradients are projected before the update."""
import torch
from torch import nn
from torch.nn import functional as F


def flat_grad(params):
    return torch.cat([(p.grad if p.grad is not None else torch.zeros_like(p)).flatten() for p in params])


def assign(params, flat):
    start = 0
    for p in params:
        p.grad = flat[start:start + p.numel()].view_as(p).clone()
        start += p.numel()


def project(g, other):
    dot = torch.dot(g, other)
    return g - dot / other.pow(2).sum().clamp(min=1e-12) * other if dot < 0 else g


def main():
    torch.manual_seed(30)
    trunk = nn.Sequential(nn.Linear(5, 14), nn.Tanh())
    heads = nn.ModuleList([nn.Linear(14, 1), nn.Linear(14, 1)])
    params = list(trunk.parameters()) + list(heads.parameters())
    opt = torch.optim.Adam(params, lr=1e-2)
    for step in range(16):
        x = torch.randn(12, 5)
        targets = [x[:, :1].sin(), -x[:, :1] + x[:, 1:2]]
        h = trunk(x)
        losses = [F.mse_loss(head(h), y) for head, y in zip(heads, targets)]
        grads = []
        for i, loss in enumerate(losses):
            opt.zero_grad()
            loss.backward(retain_graph=i < len(losses) - 1)
            grads.append(flat_grad(params))
        merged = project(grads[0], grads[1]) + project(grads[1], grads[0])
        assign(params, merged)
        opt.step()
        if step % 4 == 0:
            print(f"step {step}: " + " ".join(f"{loss.item():.4f}" for loss in losses))


if __name__ == "__main__":
    main()
