"""What PyTorch's anomaly mode says of a state that is carried from step to step."""

import warnings
from pathlib import Path

import torch


def train():
    w, h = torch.nn.Parameter(torch.tensor(0.5)), torch.zeros(())
    for x in torch.ones(3):
        h = torch.tanh(w * x + h)
        loss = h.square()
        loss.backward()


with warnings.catch_warnings(record=True) as said, torch.autograd.set_detect_anomaly(True):
    try:
        train()
    except RuntimeError as error:
        print(f"RuntimeError: {str(error)[:50]} ...")
for line in str(said[-1].message).partition(" (Triggered")[0].splitlines():
    print(line.replace(f"{Path(__file__).parent}/", ""))
