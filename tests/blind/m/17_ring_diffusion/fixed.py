"""Denoising diffusion for points on a noisy ring."""
import torch
import torch.nn.functional as F

from denoiser import Denoiser, Schedule

torch.manual_seed(55)


def ring(count):
    angle = 6.2832 * torch.rand(count)
    radius = 1 + 0.05 * torch.randn(count)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)


def diffusion_loss(model, schedule, x0):
    t = torch.randint(schedule.steps, (len(x0),))
    noise = torch.randn_like(x0)
    x_t = schedule.corrupt(x0, noise, t)
    guess = model(x_t, t)
    return F.mse_loss(guess, noise)


def sample(model, schedule, count):
    x = torch.randn(count, 2)
    for step in reversed(range(schedule.steps)):
        t = torch.full((count,), step)
        x = schedule.backstep(x, model.predict_noise(x, t), step)
    return x


schedule = Schedule(steps=20)
model = Denoiser(schedule.steps)
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)

for iteration in range(60):
    objective = diffusion_loss(model, schedule, ring(64))
    optimizer.zero_grad()
    objective.backward()
    optimizer.step()
    if iteration % 20 == 19:
        print(f"{iteration + 1}: {objective.item():.3f}")

drawn = sample(model, schedule, 100)
print("mean radius of samples", round(drawn.norm(dim=1).mean().item(), 3))
