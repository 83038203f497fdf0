"""Rainfall -> runoff with a two-bucket model, with the sensitivity of each simulated
discharge quantile to the parameters logged along the way.

The sensitivities are taken on the graph of the training simulation itself, before it is
trained on (simulating twice is the expensive thing here).
"""
import torch
from torch import nn
import torch.nn.functional as F


class Buckets(nn.Module):
    def __init__(self):
        super().__init__()
        self.k_fast = nn.Parameter(torch.tensor(-0.5))
        self.k_slow = nn.Parameter(torch.tensor(-3.0))
        self.split = nn.Parameter(torch.tensor(0.0))

    def forward(self, rain):
        kf, ks, s = torch.sigmoid(self.k_fast), torch.sigmoid(self.k_slow), torch.sigmoid(self.split)
        fast = slow = torch.zeros(rain.shape[0])
        out = []
        for t in range(rain.shape[1]):
            fast = fast + s * rain[:, t]
            slow = slow + (1 - s) * rain[:, t]
            q = kf * fast + ks * slow
            fast = fast - kf * fast
            slow = slow - ks * slow
            out.append(q)
        return torch.stack(out, 1)


def sensitivities(q, params, levels=(0.1, 0.5, 0.9)):
    rows = []
    for level in levels:
        value = torch.quantile(q.reshape(-1), level)
        g = torch.autograd.grad(value, params, retain_graph=True)
        rows.append([round(v.item(), 4) for v in g])
    return rows


def main():
    torch.manual_seed(40)
    truth = Buckets()
    with torch.no_grad():
        truth.k_fast.fill_(0.4)
        truth.k_slow.fill_(-2.0)
        truth.split.fill_(-0.8)
    rain = F.relu(torch.randn(8, 40) - 0.5)
    with torch.no_grad():
        observed = truth(rain) * (1 + 0.05 * torch.randn(8, 40))

    model = Buckets()
    params = list(model.parameters())
    opt = torch.optim.Adam(params, lr=0.05)
    log = []
    for it in range(20):
        q = model(rain)
        if it % 5 == 0:
            log.append((it, sensitivities(q, params)))
        loss = F.mse_loss(q, observed)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 5 == 0:
            print(f"it {it:2d} mse {loss.item():.5f}")
    for it, rows in log:
        print(it, rows)


main()
