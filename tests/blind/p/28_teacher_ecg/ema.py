"""Exponential moving average of the weights of a model."""
from contextlib import contextmanager

import torch


class WeightAverage:
    def __init__(self, model, decay=0.95):
        self.model = model
        self.decay = decay
        self.shadow = [p.detach().clone() for p in model.parameters()]

    @torch.no_grad()
    def update(self):
        for s, p in zip(self.shadow, self.model.parameters()):
            s.lerp_(p, 1 - self.decay)

    @contextmanager
    def average_parameters(self):
        """Run the body with the averaged weights in the model."""
        params = list(self.model.parameters())
        backup = [p.detach().clone() for p in params]
        with torch.no_grad():
            for p, s in zip(params, self.shadow):
                p.copy_(s)
        try:
            yield self.model
        finally:
            with torch.no_grad():
                for p, b in zip(params, backup):
                    p.copy_(b)
