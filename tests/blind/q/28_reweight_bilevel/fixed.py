"""Learning to reweight examples with noisy labels.

A weighting net maps each example's loss to a weight. It is trained on a small clean
set, through two differentiable SGD steps of a copy of the classifier (bilevel); the
classifier itself then makes an ordinary step with the weights held fixed.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.manual_seed(53)

DIM, INNER_STEPS, INNER_LR = 10, 2, 0.3
true_w = torch.randn(DIM)


def make_data(n, noise):
    x = torch.randn(n, DIM)
    y = (x @ true_w > 0).float()
    flip = torch.rand(n) < noise
    return x, torch.where(flip, 1 - y, y)


noisy_x, noisy_y = make_data(400, noise=0.4)
clean_x, clean_y = make_data(40, noise=0.0)
test_x, test_y = make_data(500, noise=0.0)

classifier = nn.Sequential(nn.Linear(DIM, 32), nn.Tanh(), nn.Linear(32, 1))
weighting = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
opt_classifier = torch.optim.SGD(classifier.parameters(), lr=0.3)
opt_weighting = torch.optim.Adam(weighting.parameters(), lr=1e-2)


def example_losses(params, x, y):
    logits = functional_call(classifier, params, (x,)).squeeze(-1)
    return F.binary_cross_entropy_with_logits(logits, y, reduction="none")


def weights_for(losses):
    w = weighting(losses.detach().unsqueeze(-1)).squeeze(-1)
    return w / w.sum()


def unroll(params, x, y):
    for _ in range(INNER_STEPS):
        losses = example_losses(params, x, y)
        inner_loss = (weights_for(losses) * losses).sum()
        grads = torch.autograd.grad(inner_loss, list(params.values()), create_graph=True)
        params = {name: p - INNER_LR * g for (name, p), g in zip(params.items(), grads)}
    return params


for step in range(40):
    idx = torch.randint(0, len(noisy_x), (100,))
    x, y = noisy_x[idx], noisy_y[idx]
    params = dict(classifier.named_parameters())

    fast = unroll(params, x, y)
    meta_loss = example_losses(fast, clean_x, clean_y).mean()
    opt_weighting.zero_grad()
    meta_loss.backward()
    opt_weighting.step()

    losses = example_losses(params, x, y)
    with torch.no_grad():
        w = weights_for(losses)
    opt_classifier.zero_grad()
    (w * losses).sum().backward()
    opt_classifier.step()

    if step % 5 == 0:
        with torch.no_grad():
            acc = ((classifier(test_x).squeeze(-1) > 0) == test_y.bool()).float().mean()
        print(f"step {step:2d}  meta loss {meta_loss.item():.3f}  test acc {acc:.3f}")
