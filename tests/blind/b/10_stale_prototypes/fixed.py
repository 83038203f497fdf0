"""Few-shot head: class prototypes are a fixed start plus a learned correction."""
import torch
from torch import nn
from torch.nn import functional as F


class PrototypeHead(nn.Module):
    def __init__(self, classes=4, width=6):
        super().__init__()
        self.base = nn.Parameter(torch.randn(classes, width))
        self.delta = nn.Parameter(torch.zeros(classes, width))

    def forward(self, features):
        prototypes = self.base + self.delta
        distance = (features.unsqueeze(1) - prototypes.unsqueeze(0)).abs().sum(-1)
        return -distance


class FewShot(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(9, 6), nn.Tanh())
        self.head = PrototypeHead()

    def forward(self, x):
        return self.head(self.embed(x))


def episodes(n):
    for _ in range(n):
        y = torch.randint(0, 4, (12,))
        yield torch.randn(12, 9) + y.unsqueeze(1) * 0.7 - 1.0, y


def main():
    torch.manual_seed(10)
    model = FewShot()
    opt = torch.optim.Adam(model.parameters(), lr=2e-2)
    for step, (x, y) in enumerate(episodes(30)):
        opt.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        opt.step()
        if step % 6 == 0:
            acc = (logits.argmax(1) == y).float().mean().item()
            print(f"episode {step}: loss {loss.item():.4f} acc {acc:.2f}")


if __name__ == "__main__":
    main()
