"""Learning to reweight examples (Ren et al. 2018) with noisy labels.

A virtual SGD step with create_graph=True makes the clean loss a function of the
example weights; one more gradient gives the weights, and the real step follows.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


def noisy(n):
    x = torch.randn(n, 6)
    y = (x[:, 0] > 0).long()
    wrong = torch.rand(n) < 0.4
    return x, torch.where(wrong, 1 - y, y)


def clean(n):
    x = torch.randn(n, 6)
    return x, (x[:, 0] > 0).long()


def example_weights(model, x, y, xc, yc, lr):
    params = dict(model.named_parameters())
    eps = torch.zeros(len(x), requires_grad=True)
    costs = F.cross_entropy(functional_call(model, params, (x,)), y, reduction="none")
    grads = torch.autograd.grad((costs * eps).sum(), params.values(), create_graph=True)
    ahead = {k: p - lr * g for (k, p), g in zip(params.items(), grads)}
    meta = F.cross_entropy(functional_call(model, ahead, (xc,)), yc)
    (grad_eps,) = torch.autograd.grad(meta, eps)
    w = F.relu(-grad_eps)
    return w / w.sum().clamp(min=1e-8)


def main(steps=8, lr=0.3):
    torch.manual_seed(24)
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    for step in range(steps):
        x, y = noisy(40)
        w = example_weights(model, x, y, *clean(10), lr)
        loss = (F.cross_entropy(model(x), y, reduction="none") * w).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, f"loss {loss.item():.4f} used {(w > 0).sum().item()}/40")


main()
