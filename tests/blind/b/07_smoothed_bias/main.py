"""Score calibration: a learned offset that is applied in smoothed form."""
import torch
from torch import nn
from torch.nn import functional as F


class SmoothedOffset(nn.Module):
    """Applies an exponential average of the learned offset instead of the raw one."""

    def __init__(self, classes, momentum=0.8):
        super().__init__()
        self.offset = nn.Parameter(torch.zeros(classes))
        self.momentum = momentum
        self.smoothed = torch.zeros(classes)

    def forward(self, logits):
        self.smoothed = torch.lerp(self.smoothed, self.offset, 1 - self.momentum)
        return logits + self.smoothed


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 4))
        self.calibration = SmoothedOffset(4)

    def forward(self, x):
        return self.calibration(self.body(x))


def main():
    torch.manual_seed(7)
    model = Scorer()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    prior = torch.tensor([0.7, 0.1, 0.1, 0.1])
    for step in range(40):
        y = torch.multinomial(prior, 16, replacement=True)
        x = torch.randn(16, 6) + y.unsqueeze(1) * 0.3
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
    print("offset", [round(v, 3) for v in model.calibration.offset.tolist()])


if __name__ == "__main__":
    main()
