"""Multi-task loss weighting."""
import math

import torch
import torch.nn as nn


class UncertaintyWeighting(nn.Module):
    """sum_i exp(-s_i) * L_i + s_i with one learned log-variance s_i per task."""

    def __init__(self, tasks):
        super().__init__()
        self.tasks = list(tasks)
        self.log_vars = nn.Parameter(torch.zeros(len(self.tasks)))

    def weights(self):
        return {t: math.exp(-s) for t, s in zip(self.tasks, self.log_vars.tolist())}

    def forward(self, losses):
        weights = self.weights()
        weighted = sum(weights[t] * losses[t] for t in self.tasks)
        return weighted + self.log_vars.sum()
