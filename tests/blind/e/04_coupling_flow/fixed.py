"""Fit a normalizing flow to two moons."""
import math

import torch

from fixed_flows import Flow


def two_moons(count):
    angle = torch.rand(count) * math.pi
    upper = torch.rand(count) < 0.5
    x = torch.where(upper, torch.cos(angle), 1 - torch.cos(angle))
    y = torch.where(upper, torch.sin(angle), 0.5 - torch.sin(angle))
    return torch.stack([x, y], dim=1) + 0.08 * torch.randn(count, 2)


def train(flow, data, epochs=5, batch_size=100, lr=5e-3):
    optimizer = torch.optim.Adam(flow.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(epochs):
        nll_sum = 0.0
        for index in torch.randperm(len(data)).split(batch_size):
            optimizer.zero_grad()
            nll = -flow.log_prob(data[index]).mean()
            nll.backward()
            torch.nn.utils.clip_grad_norm_(flow.parameters(), 10.0)
            optimizer.step()
            nll_sum += nll.item() * len(index)
        scheduler.step()
        print(f"epoch {epoch}: nll {nll_sum / len(data):.4f}")


if __name__ == "__main__":
    torch.manual_seed(21)
    data = two_moons(600)
    data = (data - data.mean(0)) / data.std(0)
    flow = Flow()
    train(flow, data)
    drawn = flow.sample(500)
    print("sample mean", [round(v, 2) for v in drawn.mean(0).tolist()], "std", [round(v, 2) for v in drawn.std(0).tolist()])
