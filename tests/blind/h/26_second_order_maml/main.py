"""MAML with second-order gradients on sine waves, functional parameters, no library."""
import math

import torch
import torch.nn.functional as F


def init_params(width=24):
    def layer(i, o):
        return [(torch.randn(o, i) / math.sqrt(i)).requires_grad_(), torch.zeros(o, requires_grad=True)]
    return layer(1, width) + layer(width, width) + layer(width, 1)


def net(x, p):
    h = torch.tanh(F.linear(x, p[0], p[1]))
    h = torch.tanh(F.linear(h, p[2], p[3]))
    return F.linear(h, p[4], p[5])


def sine_task():
    amplitude, phase = 0.5 + 1.5 * torch.rand(()), 3 * torch.rand(())

    def draw(n):
        x = 6 * torch.rand(n, 1) - 3
        return x, amplitude * torch.sin(x + phase)
    return draw


def adapt(params, x, y, steps=2, lr=0.05):
    fast = params
    for _ in range(steps):
        loss = F.mse_loss(net(x, fast), y)
        grads = torch.autograd.grad(loss, fast, create_graph=True)
        fast = [p - lr * g for p, g in zip(fast, grads)]
    return fast


def main():
    torch.manual_seed(88)
    params = init_params()
    meta_optimizer = torch.optim.Adam(params, lr=5e-3)
    history = []
    for it in range(60):
        meta_optimizer.zero_grad()
        for _ in range(4):
            draw = sine_task()
            fast = adapt(params, *draw(10))
            x, y = draw(10)
            query_loss = F.mse_loss(net(x, fast), y) / 4
            query_loss.backward()
            history.append(4 * query_loss.item())
        meta_optimizer.step()
        if it % 15 == 14:
            print(f"iteration {it}: query loss after adaptation {sum(history[-60:]) / 60:.4f}")


if __name__ == "__main__":
    main()
