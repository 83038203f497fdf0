from torch import nn


class PumpNet(nn.Module):
    def __init__(self, faults, width=20):
        super().__init__()
        self.width = width
        self.body = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, faults)

    def swap_head(self, faults):
        """A fresh output layer for another set of faults; the body stays."""
        self.head = nn.Linear(self.width, faults)

    def forward(self, spectrum):
        return self.head(self.body(spectrum))
