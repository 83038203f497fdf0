"""Fine-tuning with one optimizer for the backbone and one for the new head."""
import torch
from torch import nn
from torch.nn import functional as F


def make_batch():
    y = torch.randint(0, 3, (12,))
    return torch.randn(12, 8) + y.unsqueeze(1) * 0.5, y


class Finetuner:
    def __init__(self):
        self.backbone = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 16), nn.GELU())
        self.head = nn.Linear(16, 3)
        self.opt_backbone = torch.optim.SGD(self.backbone.parameters(), lr=1e-2)
        self.opt_head = torch.optim.Adam(self.head.parameters(), lr=1e-2)

    def step(self, x, y):
        self.head.zero_grad()
        loss = F.cross_entropy(self.head(self.backbone(x)), y)
        loss.backward()
        self.opt_backbone.step()
        self.opt_head.step()
        return loss.item()


def main():
    torch.manual_seed(5)
    tuner = Finetuner()
    data = [make_batch() for _ in range(4)]
    for epoch in range(5):
        mean = sum(tuner.step(x, y) for x, y in data) / len(data)
        print(f"epoch {epoch}: loss {mean:.4f}")


if __name__ == "__main__":
    main()
