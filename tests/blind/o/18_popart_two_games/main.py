"""PopArt value learning on two games whose scores differ by orders of magnitude.

Per batch (van Hasselt et al. 2016): first the statistics (mu, sigma) of the game are
moved toward the new returns and the head is rescaled so that its unnormalised outputs
stay as they were; then the value is predicted by that head and regressed on the
returns normalised by the new statistics.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)


class PopArtHead(nn.Module):
    def __init__(self, n_in, n_games, beta=0.1):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_games, n_in) * 0.1)
        self.bias = nn.Parameter(torch.zeros(n_games))
        self.beta = beta
        self.register_buffer("mu", torch.zeros(n_games))
        self.register_buffer("nu", torch.ones(n_games))

    @property
    def sigma(self):
        return (self.nu - self.mu ** 2).clamp(min=1e-4).sqrt()

    @torch.no_grad()
    def update_statistics(self, game, returns):
        old_mu, old_sigma = self.mu[game].clone(), self.sigma[game].clone()
        self.mu[game] += self.beta * (returns.mean() - self.mu[game])
        self.nu[game] += self.beta * (returns.pow(2).mean() - self.nu[game])
        sigma = self.sigma[game]
        self.weight[game].mul_(old_sigma / sigma)
        self.bias[game].mul_(old_sigma).add_(old_mu - self.mu[game]).div_(sigma)

    def normalise(self, game, returns):
        return (returns - self.mu[game]) / self.sigma[game]

    def forward(self, h):
        return F.linear(h, self.weight, self.bias)


class ValueNet(nn.Module):
    def __init__(self, n_obs, n_games):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_obs, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.head = PopArtHead(16, n_games)

    def forward(self, obs):
        return self.head(self.trunk(obs))


class Learner:
    SCORE = {0: (1.0, 0.0), 1: (400.0, 1500.0)}

    def __init__(self):
        self.net = ValueNet(5, len(self.SCORE))
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=1e-3)
        self.truth = torch.randn(5)

    def batch(self, game):
        obs = torch.randn(32, 5)
        spread, offset = self.SCORE[game]
        return obs, spread * (obs @ self.truth) + offset

    def update(self, game):
        obs, returns = self.batch(game)
        value = self.net(obs)[:, game]
        self.net.head.update_statistics(game, returns)
        goal = self.net.head.normalise(game, returns)
        loss = F.mse_loss(value, goal)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


if __name__ == "__main__":
    learner = Learner()
    for step in range(30):
        loss = learner.update(game=step % 2)
        if step % 6 < 2:
            print(f"step {step} game {step % 2} loss {loss:.4f}")
