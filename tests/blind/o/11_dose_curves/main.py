"""Oral dosing: fit absorption and elimination rates of a drug together with how the
volume of distribution depends on body weight and age.

One-compartment model (Bateman):
    c(t) = dose/V * ka/(ka-ke) * (exp(-ke t) - exp(-ka t))
ka and ke are shared by all patients, V comes from a small covariate network.
All of them are estimated by maximum likelihood (log-normal error).
"""
import torch
from torch import nn


class OralDose(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_ka = nn.Parameter(torch.tensor(0.0))
        self.log_ke = nn.Parameter(torch.tensor(-2.5))
        self.volume = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
        self.log_sigma = nn.Parameter(torch.tensor(-1.0))

    def rates(self):
        # vector [ka, ke]
        return torch.tensor([self.log_ka.item(), self.log_ke.item()]).exp()

    def forward(self, dose, covariates, t):
        ka, ke = self.rates()
        v = torch.exp(self.volume(covariates) + 3.0)                     # patients, 1
        curve = ka / (ka - ke) * (torch.exp(-ke * t) - torch.exp(-ka * t))
        return dose[:, None] / v * curve

    def nll(self, dose, covariates, t, observed):
        pred = self(dose, covariates, t).clamp(min=1e-6)
        z = (observed.log() - pred.log()) / self.log_sigma.exp()
        return (0.5 * z ** 2 + self.log_sigma).mean()


def trial(n=60):
    t = torch.tensor([0.5, 1.0, 2.0, 4.0, 8.0, 12.0])
    cov = torch.randn(n, 2)
    dose = torch.full((n,), 100.0)
    v = torch.exp(3.4 + 0.25 * cov[:, :1])
    ka, ke = 1.6, 0.15
    c = dose[:, None] / v * ka / (ka - ke) * (torch.exp(-ke * t) - torch.exp(-ka * t))
    return dose, cov, t, c * torch.exp(0.1 * torch.randn_like(c))


def fit():
    torch.manual_seed(19)
    dose, cov, t, obs = trial()
    model = OralDose()
    opt = torch.optim.Adam(model.parameters(), lr=0.03)
    for it in range(40):
        opt.zero_grad()
        loss = model.nll(dose, cov, t, obs)
        loss.backward()
        opt.step()
        if it % 10 == 0:
            ka, ke = model.rates().tolist()
            print(f"it {it:2d}  nll {loss.item():.4f}  ka {ka:.3f}  ke {ke:.3f}")
    return model


if __name__ == "__main__":
    fit()
