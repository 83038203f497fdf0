"""Proximal policy optimisation on a corridor; one rollout feeds several epochs."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical


@dataclass
class PPOConfig:
    iterations: int = 4
    horizon: int = 16
    epochs: int = 3
    gamma: float = 0.95
    clip: float = 0.2
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    lr: float = 5e-3


class Corridor:
    """Walk right along five cells; a step costs a little, the end pays one."""

    def __init__(self, cells=5):
        self.cells = cells
        self.position = 0

    def observe(self):
        return nn.functional.one_hot(torch.tensor(self.position), self.cells).float()

    def step(self, action):
        self.position = max(0, self.position + (1 if action == 1 else -1))
        if self.position == self.cells - 1:
            self.position = 0
            return self.observe(), 1.0, True
        return self.observe(), -0.05, False


class ActorCritic(nn.Module):
    def __init__(self, obs, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 16), nn.Tanh())
        self.pi = nn.Linear(16, actions)
        self.v = nn.Linear(16, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class RolloutBuffer:
    def __init__(self):
        self.clear()

    def clear(self):
        self.obs, self.actions, self.log_probs = [], [], []
        self.values, self.rewards, self.dones = [], [], []

    def add(self, obs, action, log_prob, value, reward, done):
        self.obs.append(obs)
        self.actions.append(action)
        self.log_probs.append(log_prob)
        self.values.append(value)
        self.rewards.append(reward)
        self.dones.append(done)

    def returns(self, gamma):
        out, running = [], 0.0
        for reward, done in zip(reversed(self.rewards), reversed(self.dones)):
            running = reward + gamma * running * (1.0 - float(done))
            out.append(running)
        return torch.tensor(out[::-1])


class PPO:
    def __init__(self, cfg):
        self.cfg = cfg
        self.env = Corridor()
        self.net = ActorCritic(5, 2)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)
        self.buffer = RolloutBuffer()

    def collect(self):
        self.buffer.clear()
        obs = self.env.observe()
        for _ in range(self.cfg.horizon):
            dist, value = self.net(obs)
            action = dist.sample()
            nxt, reward, done = self.env.step(action.item())
            self.buffer.add(obs, action, dist.log_prob(action), value, reward, done)
            obs = nxt
        return sum(self.buffer.rewards)

    def update(self):
        obs = torch.stack(self.buffer.obs)
        actions = torch.stack(self.buffer.actions)
        old_log_probs = torch.stack(self.buffer.log_probs)
        old_values = torch.stack(self.buffer.values)
        returns = self.buffer.returns(self.cfg.gamma)
        advantages = returns - old_values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

        for _ in range(self.cfg.epochs):
            dist, values = self.net(obs)
            ratio = (dist.log_prob(actions) - old_log_probs).exp()
            clipped = ratio.clamp(1 - self.cfg.clip, 1 + self.cfg.clip)
            policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            value_loss = nn.functional.mse_loss(values, returns)
            loss = policy_loss + self.cfg.value_coef * value_loss - self.cfg.entropy_coef * dist.entropy().mean()
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
            self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(17)
    cfg = PPOConfig()
    agent = PPO(cfg)
    for iteration in range(cfg.iterations):
        reward = agent.collect()
        loss = agent.update()
        print(f"iteration {iteration}: reward {reward:.2f} loss {loss:.4f}")


if __name__ == "__main__":
    main()
