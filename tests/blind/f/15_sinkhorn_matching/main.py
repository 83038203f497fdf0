"""Learn features by which two shuffled point sets can be matched (differentiable Sinkhorn)."""
import torch
from torch import nn


def sinkhorn(scores, rounds=6):
    """Normalise rows and columns of exp(scores) in turn, in the log domain."""
    log_p = scores * 1.0
    for _ in range(rounds):
        log_p -= torch.logsumexp(log_p, dim=2, keepdim=True)
        log_p -= torch.logsumexp(log_p, dim=1, keepdim=True)
    return log_p


def scene(batch, points, generator):
    """Points with a noisy descriptor, seen again from a turned camera in another order."""
    first = torch.randn(batch, points, 6, generator=generator)
    angle = torch.tensor(0.7)
    turn = torch.eye(6)
    turn[0, 0] = turn[1, 1] = angle.cos()
    turn[0, 1], turn[1, 0] = -angle.sin(), angle.sin()
    order = torch.stack([torch.randperm(points, generator=generator) for _ in range(batch)])
    second = (first @ turn).gather(1, order[..., None].expand(-1, -1, 6))
    second = second + 0.1 * torch.randn(batch, points, 6, generator=generator)
    return first, second, order


class Matcher(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 16))
        self.right = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 16))

    def forward(self, a, b):
        return sinkhorn(self.right(b) @ self.left(a).transpose(1, 2))


def train():
    torch.manual_seed(23)
    generator = torch.Generator().manual_seed(2)
    net = Matcher()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for iteration in range(60):
        first, second, order = scene(8, 10, generator)
        log_p = net(first, second)
        loss = -log_p.gather(2, order[..., None]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if iteration % 12 == 11:
            right = (log_p.argmax(2) == order).float().mean().item()
            print(f"{iteration + 1:3d}: loss {loss.item():.4f} matched {right:.3f}")


if __name__ == "__main__":
    train()
