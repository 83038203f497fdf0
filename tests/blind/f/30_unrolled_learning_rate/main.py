"""Learn per-parameter step sizes by differentiating through an unrolled inner optimisation."""
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(90)


def regression_task():
    slope, offset = torch.randn(3, 1), torch.randn(())

    def batch(n=24):
        x = torch.randn(n, 3)
        return x, torch.relu(x @ slope) + 0.3 * offset

    return batch


net = nn.Sequential(nn.Linear(3, 20), nn.ReLU(), nn.Linear(20, 1))
log_rates = {name: torch.full_like(p, -4.0).requires_grad_() for name, p in net.named_parameters()}
meta = torch.optim.Adam(list(log_rates.values()), lr=0.05)


def inner(params, batch, steps):
    for _ in range(steps):
        x, y = batch()
        loss = nn.functional.mse_loss(functional_call(net, params, (x,)), y)
        grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)
        params = {
            name: value - log_rates[name].exp() * grad
            for (name, value), grad in zip(params.items(), grads)
        }
    return params


for epoch in range(5):
    outer_losses = []
    for _ in range(8):
        batch = regression_task()
        start = {name: p.detach().clone().requires_grad_() for name, p in net.named_parameters()}
        adapted = inner(start, batch, steps=4)
        x, y = batch(64)
        outer = nn.functional.mse_loss(functional_call(net, adapted, (x,)), y)
        meta.zero_grad()
        outer.backward()
        meta.step()
        outer_losses.append(outer.item())
    rate = torch.cat([r.detach().exp().flatten() for r in log_rates.values()]).mean().item()
    print(f"epoch {epoch}: loss after adaptation {sum(outer_losses) / len(outer_losses):.4f}, mean rate {rate:.4f}")
