"""Density estimation on a scaled banana with a NICE-style flow.

Additive couplings alternate with elementwise affine layers, whose scale and shift are
learned together with the couplings by maximum likelihood.
"""
import torch
import torch.nn as nn

torch.manual_seed(47)


class ElementwiseAffine(nn.Module):
    """Learned scale and shift of every dimension."""

    def __init__(self, dim):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(1, dim))
        self.shift = nn.Parameter(torch.zeros(1, dim))

    def forward(self, x):
        y = x * self.log_scale.exp() + self.shift
        return y, self.log_scale.sum(1).expand(len(x))


class AdditiveCoupling(nn.Module):
    """Shifts one half of the input by a function of the other half."""

    def __init__(self, dim, flip, hidden=32):
        super().__init__()
        self.flip = flip
        self.half = dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, hidden), nn.Tanh(),
                                 nn.Linear(hidden, dim - self.half))

    def forward(self, x):
        a, b = x[:, :self.half], x[:, self.half:]
        if self.flip:
            y = torch.cat([a + self.net(b), b], dim=1)
        else:
            y = torch.cat([a, b + self.net(a)], dim=1)
        return y, x.new_zeros(len(x))


class Flow(nn.Module):
    def __init__(self, dim, n_blocks):
        super().__init__()
        layers = []
        for i in range(n_blocks):
            layers += [AdditiveCoupling(dim, flip=i % 2 == 1), ElementwiseAffine(dim)]
        self.layers = nn.ModuleList(layers)
        self.base = torch.distributions.Normal(0.0, 1.0)

    def log_prob(self, x):
        log_det = 0.0
        for layer in self.layers:
            x, ld = layer(x)
            log_det = log_det + ld
        return self.base.log_prob(x).sum(1) + log_det


def banana(n):
    x = 2.5 * torch.randn(n)
    y = 0.3 * torch.randn(n) + 0.2 * x ** 2
    return torch.stack([x, y], dim=1)


train_x = banana(1024)
test_x = banana(512)

flow = Flow(dim=2, n_blocks=4)
optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[8], gamma=0.3)

for epoch in range(12):
    for x in train_x[torch.randperm(len(train_x))].split(128):
        loss = -flow.log_prob(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    with torch.no_grad():
        test_nll = -flow.log_prob(test_x).mean().item()
    print(f"epoch {epoch:2d}  train nll {loss.item():.3f}  test nll {test_nll:.3f}")
