"""PPO for a one-joint reaching task.

Each iteration collects a batch of trajectories, computes GAE advantages and returns,
and then makes several epochs of clipped updates on that fixed batch.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(29)

ENVS, T, GAMMA, LAM, CLIP = 16, 20, 0.95, 0.9, 0.2


class ReachEnv:
    """A damped joint driven by a torque towards a random target angle."""

    def reset(self):
        self.angle = torch.zeros(ENVS)
        self.vel = torch.zeros(ENVS)
        self.target = torch.empty(ENVS).uniform_(-1, 1)
        return self.observe()

    def observe(self):
        return torch.stack([self.angle - self.target, self.vel], dim=-1)

    def step(self, torque):
        self.vel = 0.8 * self.vel + 0.2 * torque.squeeze(-1).clamp(-2, 2)
        self.angle = self.angle + 0.5 * self.vel
        return self.observe(), -(self.angle - self.target).abs()


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, obs):
        return Normal(self.actor(obs), self.log_std.exp()), self.critic(obs).squeeze(-1)


@dataclass
class Rollout:
    obs: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor


def gae(rewards, values, last_value):
    advantages, adv, next_value = [], 0.0, last_value
    for r, v in zip(reversed(rewards), reversed(values)):
        delta = r + GAMMA * next_value - v
        adv = delta + GAMMA * LAM * adv
        advantages.insert(0, adv)
        next_value = v
    return torch.stack(advantages)


def collect(env, model):
    obs_buf, act_buf, logp_buf, rew_buf, val_buf = [], [], [], [], []
    obs = env.reset()
    for _ in range(T):
        dist, value = model(obs)
        action = dist.sample()
        obs_buf.append(obs)
        act_buf.append(action)
        logp_buf.append(dist.log_prob(action).sum(-1))
        val_buf.append(value)
        obs, reward = env.step(action)
        rew_buf.append(reward)
    _, last_value = model(obs)
    adv = gae(rew_buf, val_buf, last_value)
    returns = adv + torch.stack(val_buf)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    return Rollout(torch.stack(obs_buf), torch.stack(act_buf), torch.stack(logp_buf), adv, returns)


env, model = ReachEnv(), ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for iteration in range(12):
    batch = collect(env, model)
    for epoch in range(4):
        dist, value = model(batch.obs)
        log_prob = dist.log_prob(batch.actions).sum(-1)
        ratio = (log_prob - batch.log_probs).exp()
        clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
        policy_loss = -torch.min(ratio * batch.advantages, clipped * batch.advantages).mean()
        value_loss = (value - batch.returns).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss

        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    print(f"iter {iteration:2d}  policy {policy_loss.item():.3f}  value {value_loss.item():.3f}")
