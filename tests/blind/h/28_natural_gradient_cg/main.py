"""Hessian-free training: Newton direction by conjugate gradients with Hessian-vector products."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def flatten(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


class HessianFree:
    def __init__(self, params, damping=3.0, cg_steps=8, lr=1.0):
        self.params = list(params)
        self.damping, self.cg_steps, self.lr = damping, cg_steps, lr

    def hvp(self, grad, vector):
        product = torch.autograd.grad(grad @ vector, self.params, retain_graph=True)
        return flatten(product) + self.damping * vector

    def solve(self, grad):
        g = grad.detach()
        x = torch.zeros_like(g)
        r, p = g.clone(), g.clone()
        rr = r @ r
        for _ in range(self.cg_steps):
            hp = self.hvp(grad, p)
            curvature = p @ hp
            if curvature <= 0 or rr < 1e-12:
                break
            alpha = rr / curvature
            x += alpha * p
            r -= alpha * hp
            new = r @ r
            p = r + new / rr * p
            rr = new
        return x

    def step(self, loss):
        grad = flatten(torch.autograd.grad(loss, self.params, create_graph=True))
        direction = self.solve(grad)
        at = 0
        with torch.no_grad():
            for p in self.params:
                p -= self.lr * direction[at:at + p.numel()].view_as(p)
                at += p.numel()


def main():
    torch.manual_seed(42)
    x = torch.randn(120, 4)
    y = torch.sin(x[:, :1]) + x[:, 1:2] * 0.5
    net = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
    optimizer = HessianFree(net.parameters())
    for it in range(20):
        loss = F.mse_loss(net(x), y)
        optimizer.step(loss)
        if it % 4 == 3:
            print(f"iteration {it}: loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
