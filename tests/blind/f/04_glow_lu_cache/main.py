import torch

from flow import Flow


def spiral(n):
    t = 3 * torch.rand(n).sqrt() * 3.14159
    points = torch.stack([t * t.cos(), t * t.sin(), 0.3 * t, torch.randn(n)], 1) / 5
    return points + 0.05 * torch.randn_like(points)


class Fit:
    def __init__(self, flow, lr=3e-3):
        self.flow = flow
        self.optimizer = torch.optim.Adam(flow.parameters(), lr=lr)

    def epoch(self, data):
        self.flow.train()
        total = 0.0
        for batch in data[torch.randperm(len(data))].split(100):
            nll = -self.flow.log_prob(batch).mean()
            self.optimizer.zero_grad()
            nll.backward()
            self.optimizer.step()
            total += nll.item() * len(batch)
        return total / len(data)

    @torch.no_grad()
    def score(self, data):
        self.flow.eval()
        return -self.flow.log_prob(data).mean().item()


torch.manual_seed(5)
fit = Fit(Flow(4, blocks=3))
train, held_out = spiral(500), spiral(200)
for epoch in range(6):
    nll = fit.epoch(train)
    print(f"epoch {epoch}  train nll {nll:.4f}  held-out nll {fit.score(held_out):.4f}")
