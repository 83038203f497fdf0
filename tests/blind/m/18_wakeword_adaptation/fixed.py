"""Wake word detection with a layer whose neurons tire.

Every neuron keeps a slow running average of how active it has been over the
batches; this statistic raises its threshold, so that all neurons share the work.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(63)

BANDS, FRAMES = 12, 16


def clips(count):
    """Band energies over time; the wake word is a rising chirp."""
    sound = 0.6 * torch.rand(count, FRAMES, BANDS)
    wake = torch.rand(count) < 0.5
    for n in range(count):
        if wake[n]:
            begin = int(torch.randint(0, FRAMES - BANDS + 1, (1,)))
            for band in range(BANDS):
                sound[n, begin + band, band] += 1.0
        else:
            places = torch.randint(0, FRAMES, (BANDS,))
            sound[n, places, torch.arange(BANDS)] += 1.0
    return sound, wake.float()


class TiringLayer(nn.Module):
    """Leaky units with a soft threshold that follows the running average `fatigue`."""

    def __init__(self, inputs, units, leak=0.7, memory=0.9):
        super().__init__()
        self.drive = nn.Linear(inputs, units)
        self.leak = leak
        self.memory = memory
        self.register_buffer("fatigue", torch.zeros(units))

    def forward(self, frames):
        batch, steps, _ = frames.shape
        charge = frames.new_zeros(batch, self.drive.out_features)
        rates = []
        for step in range(steps):
            charge = self.leak * charge + self.drive(frames[:, step])
            rates.append(torch.sigmoid(4 * (charge - 0.5 - self.fatigue)))
        rates = torch.stack(rates, dim=1)
        if self.training:
            mean_rate = rates.detach().mean(dim=(0, 1))
            self.fatigue = self.memory * self.fatigue + (1 - self.memory) * mean_rate
        return rates


class Detector(nn.Module):
    def __init__(self, units=20):
        super().__init__()
        self.layer = TiringLayer(BANDS, units)
        self.readout = nn.Linear(2 * units, 1)

    def forward(self, sound):
        rates = self.layer(sound)
        pooled = torch.cat([rates.mean(1), rates.amax(1)], dim=1)
        return self.readout(pooled).squeeze(1)


def accuracy(detector, sound, wake):
    detector.eval()
    with torch.no_grad():
        right = ((detector(sound) > 0).float() == wake).float().mean().item()
    detector.train()
    return right


def main():
    detector = Detector()
    optimizer = torch.optim.Adam(detector.parameters(), lr=0.01)
    sound, wake = clips(160)
    test = clips(60)
    for epoch in range(4):
        for rows in torch.randperm(len(sound)).split(32):
            logit = detector(sound[rows])
            objective = F.binary_cross_entropy_with_logits(logit, wake[rows])
            optimizer.zero_grad()
            objective.backward()
            optimizer.step()
        tired = detector.layer.fatigue.max().item()
        print(f"epoch {epoch}: {objective.item():.3f}, test {accuracy(detector, *test):.2f}, most tired {tired:.2f}")


if __name__ == "__main__":
    main()
