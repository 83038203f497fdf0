"""Truncated stick-breaking mixture of Gaussians fitted by gradient descent.

We learn the sticks (and so the mixture weights), the centres and the widths.
"""
import math

import torch

torch.manual_seed(11)

K = 6
data = torch.cat([torch.randn(60) * 0.4 - 2, torch.randn(90) * 0.7 + 1.5])

stick_logits = torch.zeros(K - 1, requires_grad=True)
centres = torch.linspace(-3, 3, K).requires_grad_()
log_scale = torch.zeros(K, requires_grad=True)


def stick_breaking(logits):
    v = torch.sigmoid(logits)
    rest = torch.cumprod(1 - v, dim=0)
    head = torch.cat([torch.ones(1), rest[:-1]]) * v
    return torch.cat([head, rest[-1:]])


def log_normal(x, mu, log_s):
    z = (x[:, None] - mu) / log_s.exp()
    return -0.5 * z ** 2 - log_s - 0.5 * math.log(2 * math.pi)


opt = torch.optim.Adam([stick_logits, centres, log_scale], lr=0.05)

for it in range(40):
    batch = data[torch.randint(0, len(data), (50,))]
    weights = stick_breaking(stick_logits)
    log_p = weights.log() + log_normal(batch, centres, log_scale)
    nll = -torch.logsumexp(log_p, dim=1).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()

print("nll", round(nll.item(), 4))
print("weights", [round(w, 3) for w in stick_breaking(stick_logits).tolist()])
