"""Multi-label detection of three faults in a signal; one head and one loss each."""
import torch
from torch import nn

FAULTS = ("bearing", "imbalance", "leak")


class Monitor(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.Sequential(nn.Conv1d(1, 6, 5, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(3), nn.Flatten())
        self.heads = nn.ModuleDict({fault: nn.Linear(18, 1) for fault in FAULTS})

    def forward(self, signal):
        shared = self.filters(signal)
        return {fault: self.heads[fault](shared).squeeze(1) for fault in FAULTS}


class WeightedLosses:
    """Adds up the losses of all faults."""

    def __init__(self, weights):
        self.weights = torch.tensor([weights[fault] for fault in FAULTS])
        self.loss = nn.BCEWithLogitsLoss()

    def __call__(self, outputs, wanted):
        losses = torch.tensor([self.loss(outputs[fault], wanted[fault]) for fault in FAULTS])
        return (self.weights * losses).sum()


def signals(count, random):
    for _ in range(count):
        wanted = {fault: torch.randint(2, (8,), generator=random).float() for fault in FAULTS}
        base = torch.randn(8, 1, 40, generator=random)
        for offset, fault in enumerate(FAULTS):
            base[:, 0, offset::3] += wanted[fault][:, None]
        yield base, wanted


def main():
    torch.manual_seed(13)
    monitor = Monitor()
    criterion = WeightedLosses({"bearing": 1.0, "imbalance": 0.5, "leak": 2.0})
    optimizer = torch.optim.Adam(monitor.parameters(), lr=0.01)
    random = torch.Generator().manual_seed(131)
    for epoch in range(3):
        for signal, wanted in signals(4, random):
            optimizer.zero_grad()
            loss = criterion(monitor(signal), wanted)
            loss.backward()
            optimizer.step()
        print(epoch, round(loss.item(), 4))


if __name__ == "__main__":
    main()
