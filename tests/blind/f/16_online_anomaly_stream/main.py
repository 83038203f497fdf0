"""An online one-step predictor that learns from every sample of a sensor stream."""
from collections import deque

import torch
from torch import nn


def stream(length, generator):
    phase = 0.0
    for t in range(length):
        phase += 0.25 + 0.05 * torch.randn((), generator=generator).item()
        jump = 2.5 if t in (130, 190) else 0.0
        yield torch.tensor([[torch.sin(torch.tensor(phase)).item() + jump, torch.cos(torch.tensor(phase)).item()]])


class Detector(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.cell = nn.GRUCell(2, width)
        self.predict = nn.Linear(width, 2)
        self.width = width

    def start(self):
        return torch.zeros(1, self.width)

    def forward(self, sample, memory):
        memory = self.cell(sample, memory)
        return self.predict(memory), memory


def run(length=220):
    detector = Detector()
    optimizer = torch.optim.Adam(detector.parameters(), lr=5e-3)
    memory = detector.start()
    recent = deque(maxlen=40)
    previous, alarms = None, []
    for t, sample in enumerate(stream(length, torch.Generator().manual_seed(7))):
        if previous is not None:
            forecast, memory = detector(previous, memory)
            loss = nn.functional.mse_loss(forecast, sample)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)  # it asked for this
            optimizer.step()
            if t > 100 and loss.item() > 8 * sum(recent) / len(recent):
                alarms.append(t)
            recent.append(loss.item())
        previous = sample
        if t % 44 == 43:
            print(f"t={t}: mean error of the last {len(recent)} samples {sum(recent) / len(recent):.4f}")
    return alarms


torch.manual_seed(14)
print("alarms at", run())
