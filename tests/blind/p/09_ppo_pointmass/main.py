"""PPO on a batch of point masses that must be pushed to the origin.

Each iteration collects a rollout with the current policy and then runs several
epochs of the clipped objective on it; the ratio compares the policy being
updated with the one that collected the data.
"""
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F

from agent import ActorCritic

GAMMA, CLIP, EPOCHS = 0.95, 0.2, 4
NUM_ENVS, HORIZON = 32, 16


class PointMass:
    def reset(self):
        self.pos = 2 * torch.rand(NUM_ENVS, 2) - 1
        self.vel = torch.zeros(NUM_ENVS, 2)
        return torch.cat([self.pos, self.vel], -1)

    def step(self, action):
        self.vel = 0.8 * self.vel + 0.2 * action.clamp(-1, 1)
        self.pos = self.pos + 0.3 * self.vel
        reward = -self.pos.norm(dim=-1)
        return torch.cat([self.pos, self.vel], -1), reward


@dataclass
class Rollout:
    obs: list = field(default_factory=list)
    actions: list = field(default_factory=list)
    log_probs: list = field(default_factory=list)
    rewards: list = field(default_factory=list)

    def returns(self):
        out, running = [], torch.zeros(NUM_ENVS)
        for r in reversed(self.rewards):
            running = r + GAMMA * running
            out.insert(0, running)
        return torch.stack(out)


def collect(env, agent):
    rollout = Rollout()
    obs = env.reset()
    for _ in range(HORIZON):
        action, log_prob = agent.act(obs)
        next_obs, reward = env.step(action)
        rollout.obs.append(obs)
        rollout.actions.append(action)
        rollout.log_probs.append(log_prob)
        rollout.rewards.append(reward)
        obs = next_obs
    return rollout


def update(agent, optimizer, rollout):
    obs = torch.stack(rollout.obs)
    actions = torch.stack(rollout.actions)
    old_log_probs = torch.stack(rollout.log_probs)
    returns = rollout.returns()
    adv = returns - agent.value(obs).detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)

    for _ in range(EPOCHS):
        log_probs = agent.dist(obs).log_prob(actions).sum(-1)
        ratio = torch.exp(log_probs - old_log_probs)
        surrogate = torch.min(ratio * adv, ratio.clamp(1 - CLIP, 1 + CLIP) * adv)
        value_loss = F.mse_loss(agent.value(obs), returns)
        loss = -surrogate.mean() + 0.5 * value_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return value_loss.item()


if __name__ == "__main__":
    torch.manual_seed(73)
    env, agent = PointMass(), ActorCritic(4, 2)
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
    for it in range(25):
        rollout = collect(env, agent)
        value_loss = update(agent, optimizer, rollout)
        if it % 4 == 0:
            mean_reward = torch.stack(rollout.rewards).mean().item()
            print(f"iter {it:2d}  reward {mean_reward:.4f}  value loss {value_loss:.4f}")
