"""Null-prompt inversion for a small conditional diffusion model.

The DDIM inversion of a signal gives a trajectory of latents. Going back from
the noisiest latent with classifier-free guidance, one null embedding per
timestep is optimised until the guided step lands on the stored latent; that
step is then taken and the next timestep is tuned from where it arrived. The
denoiser itself is not trained.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)

STEPS, DIM, EMB = 6, 16, 8
GUIDANCE = 3.0
alphas = torch.linspace(0.98, 0.35, STEPS + 1)


class Denoiser(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.inp = nn.Linear(DIM + EMB + 1, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, DIM)

    def forward(self, latent, t, emb):
        time = torch.full((latent.shape[0], 1), t / STEPS)
        h = torch.cat([latent, emb.expand(latent.shape[0], -1), time], dim=-1)
        h = F.silu(self.inp(h))
        return self.out(F.silu(self.mid(h)))


def ddim(latent, eps, a_from, a_to):
    x0 = (latent - (1 - a_from).sqrt() * eps) / a_from.sqrt()
    return a_to.sqrt() * x0 + (1 - a_to).sqrt() * eps


class NullInversion:
    def __init__(self, model, cond, lr=0.1, inner_steps=10):
        self.model = model.requires_grad_(False)
        self.cond = cond
        self.lr = lr
        self.inner_steps = inner_steps

    @torch.no_grad()
    def invert(self, x0):
        latents = [x0]
        for t in range(STEPS):
            eps = self.model(latents[-1], t, self.cond)
            latents.append(ddim(latents[-1], eps, alphas[t], alphas[t + 1]))
        return latents

    def guided_step(self, latent, t, null, eps_cond):
        eps_null = self.model(latent, t, null)
        eps = eps_null + GUIDANCE * (eps_cond - eps_null)
        return ddim(latent, eps, alphas[t], alphas[t - 1])

    def optimise(self, latents):
        null = torch.zeros(1, EMB)
        found = []
        latent = latents[-1]
        for t in range(STEPS, 0, -1):
            null = null.detach().clone().requires_grad_(True)
            optimizer = torch.optim.Adam([null], lr=self.lr)
            with torch.no_grad():
                eps_cond = self.model(latent, t, self.cond)
            history = []
            for _ in range(self.inner_steps):
                previous = self.guided_step(latent, t, null, eps_cond)
                loss = F.mse_loss(previous, latents[t - 1])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                history.append(loss.item())
            print(f"t={t}: {history[0]:.6f} -> {history[-1]:.6f}")
            found.append(null.detach())
            latent = self.guided_step(latent, t, null, eps_cond)
        return found


signal = torch.sin(torch.linspace(0, 6.28, DIM)).repeat(4, 1) + 0.1 * torch.randn(4, DIM)
inversion = NullInversion(Denoiser(), cond=torch.randn(1, EMB))
embeddings = inversion.optimise(inversion.invert(signal))
print("tuned", len(embeddings), "null embeddings")
