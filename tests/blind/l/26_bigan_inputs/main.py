"""BiGAN on 2-d points: one forward serves both players.

The discriminator's pass asks only for its own gradients (inputs=...) and retains
the graph; the generator side then back-propagates through the same graph, before
any of the two optimizers moves a weight.
"""
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(25)


def mlp(i, o, act=nn.LeakyReLU):
    return nn.Sequential(nn.Linear(i, 20), act(), nn.Linear(20, o))


encoder, generator, discriminator = mlp(2, 2), mlp(2, 2), mlp(4, 1)
eg_params = list(itertools.chain(encoder.parameters(), generator.parameters()))
d_params = list(discriminator.parameters())
opt_eg = torch.optim.Adam(eg_params, lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(d_params, lr=1e-3, betas=(0.5, 0.99))


def real_points(n):
    angle = torch.rand(n) * 6.283
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


def players(x, z):
    on_real = discriminator(torch.cat([x, encoder(x)], 1))
    on_fake = discriminator(torch.cat([generator(z), z], 1))
    d_loss = F.softplus(-on_real).mean() + F.softplus(on_fake).mean()
    eg_loss = F.softplus(on_real).mean() + F.softplus(-on_fake).mean()
    return d_loss, eg_loss


for it in range(10):
    d_loss, eg_loss = players(real_points(32), torch.randn(32, 2))
    opt_d.zero_grad()
    opt_eg.zero_grad()
    d_loss.backward(retain_graph=True, inputs=d_params)
    eg_loss.backward(inputs=eg_params)
    opt_d.step()
    opt_eg.step()
    if it % 3 == 0:
        print(it, f"d {d_loss.item():.4f} eg {eg_loss.item():.4f}")
