"""Non-saturating GAN on a two-moon density with R1 regularisation of the discriminator on real data."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, inputs, outputs, width=40):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, width), nn.Softplus(), nn.Linear(width, width), nn.Softplus(), nn.Linear(width, outputs))

    def forward(self, x):
        return self.layers(x)


def moons(n):
    t = 3.14159 * torch.rand(n)
    side = torch.randint(2, (n,)).float()
    x = torch.cos(t) * (1 - 2 * side) + side
    y = torch.sin(t) * (1 - 2 * side) + 0.4 * side
    return torch.stack([x, y], 1) + 0.05 * torch.randn(n, 2)


def r1_penalty(discriminator, real):
    """Squared norm of the discriminator's gradient at the real points (Mescheder et al.)."""
    real = real.detach().requires_grad_(True)
    score = discriminator(real).sum()
    gradient = torch.autograd.grad(outputs=score, inputs=real, create_graph=True)[0]
    return gradient.square().sum(1).mean()


def discriminator_step(d, g, opt, real, gamma):
    fake = g(torch.randn(len(real), 4)).detach()
    adversarial = F.softplus(-d(real)).mean() + F.softplus(d(fake)).mean()
    penalty = r1_penalty(d, real)
    loss = adversarial + 0.5 * gamma * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
    return adversarial.item(), penalty.item()


def generator_step(d, g, opt, n):
    loss = F.softplus(-d(g(torch.randn(n, 4)))).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


if __name__ == "__main__":
    torch.manual_seed(95)
    g, d = Net(4, 2), Net(2, 1)
    g_opt = torch.optim.Adam(g.parameters(), lr=4e-3, betas=(0.0, 0.99))
    d_opt = torch.optim.Adam(d.parameters(), lr=4e-3, betas=(0.0, 0.99))
    for it in range(1, 151):
        adversarial, penalty = discriminator_step(d, g, d_opt, moons(64), gamma=0.5)
        generator_step(d, g, g_opt, 64)
        if it % 30 == 0:
            print(f"iteration {it}: discriminator {adversarial:.4f}  r1 {penalty:.4f}")
