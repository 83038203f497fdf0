"""Networks of the two-classifier domain adaptation method."""
import torch.nn as nn


class Extractor(nn.Module):
    def __init__(self, channels=12, out=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, channels, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(channels * 9, out), nn.ReLU(),
        )

    def forward(self, x):
        return self.net(x)


class Classifier(nn.Module):
    def __init__(self, inp=24, hidden=24, classes=3, dropout=0.2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inp, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, classes))

    def forward(self, feat):
        return self.net(feat)
