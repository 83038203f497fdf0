import torch
import torch.nn as nn


class WindowGenerator(nn.Module):
    def __init__(self, noise_dim, n_classes, length):
        super().__init__()
        self.label = nn.Embedding(n_classes, 8)
        self.net = nn.Sequential(
            nn.Linear(noise_dim + 8, 64), nn.SiLU(),
            nn.Linear(64, 64), nn.SiLU(),
            nn.Linear(64, length), nn.Tanh(),
        )

    def forward(self, z, c):
        return self.net(torch.cat([z, self.label(c)], dim=1))


class WindowCritic(nn.Module):
    def __init__(self, n_classes, length):
        super().__init__()
        self.label = nn.Embedding(n_classes, 8)
        self.conv = nn.Sequential(
            nn.Conv1d(1, 12, 5, stride=2, padding=2), nn.SiLU(),
            nn.Conv1d(12, 24, 5, stride=2, padding=2), nn.SiLU(),
        )
        self.score = nn.Sequential(nn.Linear(24 * (length // 4) + 8, 48), nn.SiLU(), nn.Linear(48, 1))

    def forward(self, x, c):
        h = self.conv(x.unsqueeze(1)).flatten(1)
        return self.score(torch.cat([h, self.label(c)], dim=1)).squeeze(1)
