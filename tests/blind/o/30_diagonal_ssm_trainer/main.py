"""Next-sample forecasting of long tremor recordings with a stateful SSM.

A recording is far too long for one backward pass, so it is cut into chunks and there
is an optimizer step per chunk (truncated backpropagation). The layers carry their state
from chunk to chunk so that the forecast knows the past; it is forgotten only between
recordings.
"""
import math

import torch
import torch.nn.functional as F

from model import SeismicForecaster

torch.manual_seed(30)


class TremorDataset:
    def __init__(self, recordings=3, length=96, stations=4):
        t = torch.arange(length + 1) / 10.0
        self.items = []
        for _ in range(recordings):
            phase = 2 * math.pi * torch.rand(stations, 1)
            a = torch.sin(t + phase)
            b = torch.sin(0.31 * t + 2 * phase)
            wave = torch.stack([a, b], dim=-1)
            self.items.append(wave + 0.05 * torch.randn_like(wave))

    def __iter__(self):
        return iter(self.items)


class Trainer:
    def __init__(self, model, chunk=16, lr=4e-3):
        self.model = model
        self.chunk = chunk
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.callbacks = {"recording_start": [self.on_recording_start], "chunk_end": []}

    def fire(self, event, **info):
        for callback in self.callbacks[event]:
            callback(**info)

    def on_recording_start(self, index):
        self.model.reset()

    def chunks(self, wave):
        for start in range(0, wave.shape[1] - 1, self.chunk):
            yield wave[:, start:start + self.chunk], wave[:, start + 1:start + self.chunk + 1]

    def training_step(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def fit(self, dataset):
        for index, wave in enumerate(dataset):
            self.fire("recording_start", index=index)
            for i, (x, y) in enumerate(self.chunks(wave)):
                loss = self.training_step(x, y)
                self.fire("chunk_end", index=i, loss=loss)


def report(index, loss):
    if index % 3 == 0:
        print(f"chunk {index} loss {loss:.4f}")


if __name__ == "__main__":
    trainer = Trainer(SeismicForecaster())
    trainer.callbacks["chunk_end"].append(report)
    trainer.fit(TremorDataset())
