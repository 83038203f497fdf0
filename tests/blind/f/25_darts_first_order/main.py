"""First-order DARTS on a toy: architecture weights learn from validation data, weights from training data."""
import itertools

import torch
from torch import nn


class MixedLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.choices = nn.ModuleList([
            nn.Identity(),
            nn.Sequential(nn.Linear(width, width), nn.Tanh()),
            nn.Sequential(nn.Linear(width, width), nn.ReLU()),
        ])

    def forward(self, x, share):
        return sum(s * choice(x) for s, choice in zip(share, self.choices))


class Search(nn.Module):
    def __init__(self, width=16, layers=3):
        super().__init__()
        self.stem = nn.Linear(4, width)
        self.cells = nn.ModuleList(MixedLayer(width) for _ in range(layers))
        self.out = nn.Linear(width, 1)
        self.alpha = nn.Parameter(1e-3 * torch.randn(layers, 3))

    def weights(self):
        return [p for name, p in self.named_parameters() if name != "alpha"]

    def forward(self, x):
        h = self.stem(x)
        for cell, share in zip(self.cells, self.alpha.softmax(-1)):
            h = cell(h, share)
        return self.out(h)


def problem(n):
    x = torch.randn(n, 4)
    return x, torch.tanh(2 * x[:, :1] - x[:, 1:2]) + torch.tanh(x[:, 2:3] * 3)


torch.manual_seed(44)
train, valid = problem(256), problem(256)
net = Search()
weight_opt = torch.optim.SGD(net.weights(), lr=0.05, momentum=0.9)
alpha_opt = torch.optim.Adam([net.alpha], lr=0.02, betas=(0.5, 0.999))
valid_batches = itertools.cycle(torch.arange(256).split(32))

for epoch in range(5):
    total = 0.0
    for rows in torch.randperm(256).split(32):
        held = next(valid_batches)
        # architecture; this also fills the weights' gradients, which the next zero_grad drops
        alpha_opt.zero_grad()
        nn.functional.mse_loss(net(valid[0][held]), valid[1][held]).backward()
        alpha_opt.step()
        # weights; the gradient for alpha is dropped in the next round
        weight_opt.zero_grad()
        loss = nn.functional.mse_loss(net(train[0][rows]), train[1][rows])
        loss.backward()
        nn.utils.clip_grad_norm_(net.weights(), 5.0)
        weight_opt.step()
        total += loss.item() / 8
    print(f"epoch {epoch}: loss {total:.4f}, chosen {net.alpha.argmax(-1).tolist()}")
