"""Successor features on a ring of states.

phi(s) is trained to make the reward linear, r = w . phi(s); psi(s) is trained by
TD to predict the discounted sum of phi, which it takes as given.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Ring:
    def __init__(self, n=12, seed=0):
        self.n = n
        g = torch.Generator().manual_seed(seed)
        self.reward = torch.randn(n, generator=g)
        self.codes = torch.randn(n, 6, generator=g)

    def sample(self, batch):
        s = torch.randint(0, self.n, (batch,))
        move = torch.where(torch.rand(batch) < 0.8, 1, -1)
        s2 = (s + move) % self.n
        return self.codes[s], self.reward[s], self.codes[s2]


class SFAgent:
    def __init__(self, dim=5, gamma=0.9):
        self.gamma = gamma
        self.phi = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, dim))
        self.w = nn.Parameter(torch.randn(dim) * 0.1)
        self.psi = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, dim))
        self.psi_target = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, dim))
        self.sync()
        self.reward_opt = torch.optim.Adam([*self.phi.parameters(), self.w], lr=3e-3)
        self.psi_opt = torch.optim.Adam(self.psi.parameters(), lr=3e-3)

    def sync(self):
        self.psi_target.load_state_dict(self.psi.state_dict())

    def learn(self, s, r, s2):
        features = self.phi(s)
        reward_loss = F.mse_loss(features @ self.w, r)
        self.reward_opt.zero_grad()
        reward_loss.backward()
        self.reward_opt.step()

        with torch.no_grad():
            bootstrap = self.gamma * self.psi_target(s2)
        psi_loss = F.mse_loss(self.psi(s), features + bootstrap)
        self.psi_opt.zero_grad()
        psi_loss.backward()
        self.psi_opt.step()
        return reward_loss.item(), psi_loss.item()


if __name__ == "__main__":
    torch.manual_seed(1)
    world, agent = Ring(), SFAgent()
    for it in range(20):
        out = agent.learn(*world.sample(32))
        if it % 5 == 0:
            agent.sync()
            print(it, "reward %.4f psi %.4f" % out)
