"""Meta-SGD: learn an initialization and a learning rate for each parameter of a sine regressor."""
import math

import torch
import torch.nn.functional as F


class SineTasks:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def sample(self, shots=8):
        amplitude = 0.5 + torch.rand(1, generator=self.gen)
        phase = math.pi * torch.rand(1, generator=self.gen)
        x = 6 * torch.rand(2 * shots, 1, generator=self.gen) - 3
        y = amplitude * torch.sin(x + phase)
        return (x[:shots], y[:shots]), (x[shots:], y[shots:])


def init_params(width=12):
    shapes = [(width, 1), (width,), (1, width), (1,)]
    return [(0.5 * torch.randn(shape)).requires_grad_() for shape in shapes]


def net(x, params):
    w1, b1, w2, b2 = params
    return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


def adapt(params, rates, support, inner_steps):
    x, y = support
    fast = params
    for _ in range(inner_steps):
        inner = F.mse_loss(net(x, fast), y)
        grads = torch.autograd.grad(inner, fast, create_graph=True)
        fast = [p - rate * g for p, rate, g in zip(fast, rates, grads)]
    return fast


def main(meta_iterations=12, meta_batch=3):
    torch.manual_seed(8)
    tasks = SineTasks(seed=80)
    params = init_params()
    log_rates = [torch.full_like(p, -3.0).requires_grad_() for p in params]
    meta_opt = torch.optim.Adam(params + log_rates, lr=0.02)

    for it in range(meta_iterations):
        rates = [F.softplus(r) for r in log_rates]
        meta_loss = 0.0
        for _ in range(meta_batch):
            support, query = tasks.sample()
            fast = adapt(params, rates, support, inner_steps=2)
            x, y = query
            meta_loss = meta_loss + F.mse_loss(net(x, fast), y) / meta_batch
        meta_opt.zero_grad()
        meta_loss.backward()
        meta_opt.step()
        if it % 3 == 0:
            print(f"{it:3d} meta loss {meta_loss.item():.4f}")


if __name__ == "__main__":
    main()
