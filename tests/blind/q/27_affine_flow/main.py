"""Density estimation on a scaled banana with a NICE-style flow.

Additive couplings alternate with elementwise affine layers, whose scale and shift are
learned together with the couplings by maximum likelihood.
"""
import torch

from flow import Flow

torch.manual_seed(47)


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
