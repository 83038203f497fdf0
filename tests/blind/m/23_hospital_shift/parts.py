from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, width), nn.Tanh())

    def forward(self, x):
        return self.net(x)


class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.net = nn.Linear(width, classes)

    def forward(self, features):
        return self.net(features)
