"""Critic with a gradient penalty; the generator moves every third round."""
import torch
from torch import nn
from torch import autograd


def gradient_penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    score = critic(between)
    grad, = autograd.grad(score.sum(), between, create_graph=True)
    return (grad.norm(2, dim=1) - 1).pow(2).mean()


def main():
    torch.manual_seed(31)
    gen = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 4))
    critic = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
    opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.0, 0.9))
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
    history = {"critic": [], "penalty": [], "gen": []}
    for step in range(18):
        real = torch.randn(10, 4) + 1.5
        fake = gen(torch.randn(10, 3)).detach()
        penalty = gradient_penalty(critic, real, fake)
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
        opt_c.zero_grad()
        loss.backward()
        opt_c.step()
        history["critic"].append(loss.item())
        history["penalty"].append(penalty.item())
        if step % 3 == 2:
            opt_g.zero_grad()
            g_loss = -critic(gen(torch.randn(10, 3))).mean()
            g_loss.backward()
            opt_g.step()
            history["gen"].append(g_loss.item())
    for name, values in history.items():
        print(f"{name}: {len(values)} values, last {values[-1]:.4f}")


if __name__ == "__main__":
    main()
