"""Classify noisy two-lead ECG beats as narrow or wide.

The beats first go through a Gaussian smoothing layer (see filters.py). Its width
is learned per lead, jointly with the small convolutional classifier behind it.
"""
import torch
import torch.nn as nn

from filters import GaussianSmoothing


class BeatClassifier(nn.Module):
    def __init__(self, leads=2):
        super().__init__()
        self.smooth = GaussianSmoothing(leads)
        self.features = nn.Sequential(
            nn.Conv1d(leads, 8, 7, stride=2), nn.ReLU(),
            nn.Conv1d(8, 8, 5, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool1d(4), nn.Flatten(),
        )
        self.classifier = nn.Linear(32, 2)

    def forward(self, x):
        return self.classifier(self.features(self.smooth(x)))


def make_beats(n, length=64):
    labels = torch.randint(0, 2, (n,))
    t = torch.linspace(-1, 1, length)
    width = torch.where(labels == 1, 0.34, 0.10).view(n, 1, 1)
    polarity = torch.tensor([1.0, -0.6]).view(1, 2, 1)
    beats = polarity * torch.exp(-(t / width) ** 2)
    return beats + 0.3 * torch.randn(n, 2, length), labels


def train(model, beats, labels, epochs=5, batch_size=32):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        order = torch.randperm(len(beats))
        correct = 0
        for idx in order.split(batch_size):
            optimizer.zero_grad()
            logits = model(beats[idx])
            loss = criterion(logits, labels[idx])
            loss.backward()
            optimizer.step()
            correct += (logits.argmax(1) == labels[idx]).sum().item()
        sigma = model.smooth.log_sigma.exp().flatten().tolist()
        print(f"epoch {epoch}: acc {correct / len(beats):.3f}  "
              f"sigma {sigma[0]:.3f} {sigma[1]:.3f}")


if __name__ == "__main__":
    torch.manual_seed(12)
    beats, labels = make_beats(192)
    train(BeatClassifier(), beats, labels)
