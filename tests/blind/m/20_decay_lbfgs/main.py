"""Fit a sum of two exponential decays to a fluorescence measurement."""
import torch

torch.manual_seed(4)

t = torch.linspace(0, 5, 80)
counts = 3.0 * torch.exp(-t / 0.4) + 1.0 * torch.exp(-t / 2.5) + 0.02 * torch.randn(80)

amplitude = torch.tensor([1.0, 1.0], requires_grad=True)
log_tau = torch.tensor([-1.0, 0.5], requires_grad=True)
lbfgs = torch.optim.LBFGS([amplitude, log_tau], lr=0.3, max_iter=6)

for outer in range(8):
    curve = (amplitude * torch.exp(-t[:, None] / log_tau.exp())).sum(1)
    misfit = ((curve - counts) ** 2).mean()

    def closure():
        lbfgs.zero_grad()
        misfit.backward()
        return misfit

    lbfgs.step(closure)
    print(outer, f"{misfit.item():.6f}", [round(v, 3) for v in log_tau.exp().tolist()])
