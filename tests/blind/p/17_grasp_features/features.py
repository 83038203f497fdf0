"""Frozen tactile encoder and the batches of features made with it."""
import torch
import torch.nn as nn


class TactileEncoder(nn.Module):
    def __init__(self, channels=3, width=24):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(channels, width, 5, stride=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, stride=2), nn.ReLU(),
        )

    def forward(self, x):
        return self.conv(x).mean(-1)


def feature_batches(encoder, signals, outcomes, batch_size):
    """Shuffled batches of (features, outcome); the encoder is not trained."""
    encoder.eval()
    with torch.no_grad():
        for idx in torch.randperm(len(signals)).split(batch_size):
            features = encoder(signals[idx])
            yield features, outcomes[idx]
