"""Keyword spotting on synthetic chirps, with a small trainer and callbacks.

Trains for five epochs; after each one the accuracy on held-out clips is printed and
the learning rate is decayed.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from callbacks import Scheduling, Validation

torch.manual_seed(31)

N_FFT, SAMPLES, CLASSES = 64, 1024, 4
slopes = torch.tensor([-0.3, -0.1, 0.1, 0.3])


def make_clips(n):
    labels = torch.randint(0, CLASSES, (n,))
    t = torch.linspace(0, 1, SAMPLES)
    start = 0.5 + 0.2 * torch.rand(n, 1)
    phase = 2 * math.pi * 150 * (start * t + slopes[labels][:, None] * t ** 2)
    return torch.sin(phase) + 0.5 * torch.randn(n, SAMPLES), labels


class KeywordNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(N_FFT))
        self.conv = nn.Conv1d(N_FFT // 2 + 1, 32, kernel_size=5, stride=2)
        self.dropout = nn.Dropout(0.1)
        self.fc = nn.Linear(32 * 15, CLASSES)

    def forward(self, wave):
        spec = torch.stft(wave, N_FFT, hop_length=32, window=self.window, return_complex=True)
        x = torch.log1p(spec.abs())
        x = F.relu(self.conv(x))
        return self.fc(self.dropout(x.flatten(1)))


class Trainer:
    def __init__(self, model, optimizer, callbacks):
        self.model = model
        self.optimizer = optimizer
        self.callbacks = callbacks

    def fit(self, waves, labels, epochs, batch_size=32):
        for epoch in range(epochs):
            losses = []
            for idx in torch.randperm(len(waves)).split(batch_size):
                loss = F.cross_entropy(self.model(waves[idx]), labels[idx])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            self.epoch_loss = sum(losses) / len(losses)
            for callback in self.callbacks:
                callback.on_epoch_end(self, epoch)


model = KeywordNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
validation = Validation(*make_clips(64))

trainer = Trainer(model, optimizer, [validation, Scheduling(scheduler)])
trainer.fit(*make_clips(256), epochs=5)
print(f"best val accuracy {validation.best:.3f}")
