"""Gaussian process forecast of a noisy daily load curve.

Lengthscale, outputscale and noise are fitted by maximising the log marginal
likelihood with Adam; then the held-out hours are predicted.
"""
import torch

from gp import ExactGP

torch.manual_seed(41)
torch.set_default_dtype(torch.float64)

hours = torch.linspace(0, 24, 73)
load = torch.sin(hours / 24 * 6.2832) + 0.4 * torch.sin(hours / 8 * 6.2832)
load = load + 0.1 * torch.randn_like(load)

held_out = torch.arange(len(hours)) % 4 == 0
gp = ExactGP(hours[~held_out], load[~held_out])
optimizer = torch.optim.Adam(gp.parameters(), lr=0.1)

for step in range(60):
    optimizer.zero_grad()
    loss = gp.nll()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        ls, noise = gp.log_lengthscale.exp().item(), gp.log_noise.exp().item()
        print(f"step {step:2d}  nll {loss.item():8.3f}  lengthscale {ls:.3f}  noise {noise:.4f}")

with torch.no_grad():
    mean, var = gp.predict(hours[held_out])
rmse = (mean - load[held_out]).pow(2).mean().sqrt()
print(f"held-out rmse {rmse:.4f}  mean std {var.sqrt().mean():.4f}")
