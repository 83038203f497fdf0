"""Predict whether a robot grasp holds from the signals of the fingertips.

The tactile encoder is pretrained and stays frozen; only the small outcome
head on top of its features is trained.
"""
import torch
import torch.nn as nn

torch.manual_seed(5)


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
    for idx in torch.randperm(len(signals)).split(batch_size):
        with torch.no_grad():
            features = encoder(signals[idx])
        yield features, outcomes[idx]


class MeanMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n):
        self.total += value * n
        self.count += n

    @property
    def mean(self):
        return self.total / max(self.count, 1)


class HeadTrainer:
    def __init__(self, encoder, head, lr=0.05, callbacks=()):
        self.encoder = encoder
        self.head = head
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.Adam(head.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 4, gamma=0.5)
        self.callbacks = list(callbacks)
        self.meter = MeanMeter()

    def training_step(self, features, outcome):
        logit = self.head(features).squeeze(-1)
        loss = self.criterion(logit, outcome)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.meter.update(loss.item(), len(outcome))

    def fit(self, signals, outcomes, epochs):
        for epoch in range(epochs):
            self.meter.reset()
            for features, outcome in feature_batches(self.encoder, signals, outcomes, 32):
                self.training_step(features, outcome)
            self.scheduler.step()
            for callback in self.callbacks:
                callback(epoch, self)


def report(epoch, trainer):
    print(f"epoch {epoch}: bce {trainer.meter.mean:.4f}")


def simulate(n):
    slip = torch.rand(n)
    t = torch.linspace(0, 6.28, 64)
    phase = torch.rand(n, 3, 1) * 6.28
    signals = torch.sin(8 * t + phase) * slip.view(n, 1, 1) + 0.1 * torch.randn(n, 3, 64)
    return signals, (slip < 0.5).float()


signals, outcomes = simulate(192)
encoder = TactileEncoder()
encoder.requires_grad_(False)
head = nn.Sequential(nn.Linear(24, 16), nn.Tanh(), nn.Linear(16, 1))
HeadTrainer(encoder, head, callbacks=[report]).fit(signals, outcomes, epochs=8)
