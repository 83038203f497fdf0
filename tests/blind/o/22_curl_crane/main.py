"""CURL for a crane: Q-learning and contrastive learning on one image encoder.

Each update does two optimizer steps, each from the gradients of its own loss:
  1. critic step: TD error        -> encoder and Q head        (critic_opt)
  2. cpc step:    InfoNCE, queries against momentum keys -> encoder and W (cpc_opt)
"""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(22)


class PixelEncoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, stride=2)
        self.conv2 = nn.Conv2d(6, 8, 3, stride=1)
        self.fc = nn.Linear(8 * 3 * 3, dim)

    def forward(self, img):
        h = F.relu(self.conv1(img))
        h = F.relu(self.conv2(h))
        return torch.tanh(self.fc(h.flatten(1)))


def random_crop(imgs, size=11):
    top, left = torch.randint(0, 4, (2,)).tolist()
    return imgs[:, :, top:top + size, left:left + size]


class CurlAgent:
    def __init__(self, n_actions=3, tau=0.05, gamma=0.95):
        self.encoder = PixelEncoder()
        self.q_head = nn.Linear(16, n_actions)
        self.key_encoder = copy.deepcopy(self.encoder).requires_grad_(False)
        self.target_head = copy.deepcopy(self.q_head).requires_grad_(False)
        self.W = nn.Parameter(torch.randn(16, 16) * 0.1)
        self.tau, self.gamma = tau, gamma
        self.critic_opt = torch.optim.Adam(
            [*self.encoder.parameters(), *self.q_head.parameters()], lr=1e-3)
        self.cpc_opt = torch.optim.Adam([*self.encoder.parameters(), self.W], lr=1e-3)

    def update_critic(self, obs, action, reward, nxt):
        with torch.no_grad():
            goal = reward + self.gamma * self.target_head(self.key_encoder(nxt)).amax(1)
        q = self.q_head(self.encoder(obs)).gather(1, action[:, None]).squeeze(1)
        loss = F.mse_loss(q, goal)
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        return loss.item()

    def update_cpc(self, anchor, positive):
        z = self.encoder(anchor)
        with torch.no_grad():
            key = self.key_encoder(positive)
        logits = z @ self.W @ key.t()
        logits = logits - logits.amax(1, keepdim=True).detach()
        loss = F.cross_entropy(logits, torch.arange(len(z)))
        self.critic_opt.zero_grad()
        loss.backward()
        self.cpc_opt.step()
        return loss.item()

    @torch.no_grad()
    def soft_update(self):
        for net, slow in ((self.encoder, self.key_encoder), (self.q_head, self.target_head)):
            for p, s in zip(net.parameters(), slow.parameters()):
                s.lerp_(p, self.tau)


def replay(n=16):
    obs = torch.rand(n, 1, 14, 14)
    nxt = 0.8 * obs + 0.2 * torch.rand(n, 1, 14, 14)
    action = torch.randint(0, 3, (n,))
    return obs, action, obs.mean((1, 2, 3)) * action, nxt


agent = CurlAgent()
for step in range(16):
    obs, action, reward, nxt = replay()
    anchor, positive = random_crop(obs), random_crop(obs)
    td = agent.update_critic(anchor, action, reward, random_crop(nxt))
    cpc = agent.update_cpc(anchor, positive)
    agent.soft_update()
    if step % 4 == 0:
        print(f"step {step} td {td:.4f} cpc {cpc:.4f}")
