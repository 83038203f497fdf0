"""Fit a sum of damped oscillations to a measured decay curve with L-BFGS."""
import torch
from torch import nn


class DampedModes(nn.Module):
    def __init__(self, n_modes):
        super().__init__()
        self.amplitude = nn.Parameter(torch.full((n_modes,), 0.5))
        self.log_decay = nn.Parameter(torch.linspace(-1.0, 0.5, n_modes))
        self.frequency = nn.Parameter(torch.linspace(1.0, 4.0, n_modes))

    def forward(self, t):
        decay = torch.exp(-self.log_decay.exp() * t[:, None])
        return (self.amplitude * decay * torch.cos(self.frequency * t[:, None])).sum(dim=1)


class CurveFitter:
    def __init__(self, model, penalty=1e-4):
        self.model = model
        self.penalty = penalty
        self.optimizer = torch.optim.LBFGS(model.parameters(), lr=0.3, max_iter=5, history_size=6)
        self.losses = []

    def ridge(self):
        return sum(p.pow(2).sum() for p in self.model.parameters())

    def fit(self, t, signal, n_steps):
        for step in range(n_steps):
            def closure():
                self.optimizer.zero_grad()
                prediction = self.model(t)
                loss = nn.functional.mse_loss(prediction, signal) + self.penalty * self.ridge()
                loss.backward()
                return loss

            loss = self.optimizer.step(closure)
            self.losses.append(loss.item())
            print(f"step {step}: {self.losses[-1]:.6f}")
        return self


def measured(n):
    t = torch.linspace(0, 3, n)
    clean = 0.9 * torch.exp(-0.4 * t) * torch.cos(1.5 * t) + 0.3 * torch.exp(-t) * torch.cos(3.6 * t)
    return t, clean + 0.01 * torch.randn(n)


if __name__ == "__main__":
    torch.manual_seed(0)
    t, signal = measured(60)
    fitter = CurveFitter(DampedModes(2)).fit(t, signal, n_steps=6)
    print("best", f"{min(fitter.losses):.6f}")
