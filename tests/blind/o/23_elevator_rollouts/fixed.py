"""Elevator dispatch with plain REINFORCE (batch of episodes, one update per batch).

Collect with the current policy, then one gradient step on
    - mean( log pi(a|s) * (return - mean return) )
"""
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(23)
FLOORS = 5


class ElevatorEnv:
    def reset(self):
        self.floor = 0
        self.waiting = torch.randint(0, FLOORS, (1,)).item()
        self.t = 0
        return self._obs()

    def _obs(self):
        obs = torch.zeros(2 * FLOORS)
        obs[self.floor] = 1.0
        obs[FLOORS + self.waiting] = 1.0
        return obs

    def step(self, action):  # 0 down, 1 stay, 2 up
        self.floor = min(max(self.floor + action - 1, 0), FLOORS - 1)
        self.t += 1
        reward = -1.0
        if self.floor == self.waiting:
            reward = 5.0
            self.waiting = torch.randint(0, FLOORS, (1,)).item()
        return self._obs(), reward, self.t >= 10


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(2 * FLOORS, 32), nn.ReLU(), nn.Linear(32, 3))

    @torch.no_grad()
    def act(self, obs):
        """Used while collecting; no graph is wanted for thousands of env steps."""
        dist = Categorical(logits=self.pi(obs))
        action = dist.sample()
        return action, dist.log_prob(action)


def collect(env, agent, episodes=4):
    data = {"obs": [], "action": [], "logp": [], "ret": []}
    for _ in range(episodes):
        obs, done, rewards = env.reset(), False, []
        while not done:
            action, logp = agent.act(obs)
            data["obs"].append(obs)
            data["action"].append(action)
            data["logp"].append(logp)
            obs, reward, done = env.step(action.item())
            rewards.append(reward)
        running, returns = 0.0, []
        for r in reversed(rewards):
            running = r + 0.95 * running
            returns.insert(0, torch.tensor(running))
        data["ret"] += returns
    return {k: torch.stack(v) for k, v in data.items()}


def update(agent, optimizer, data):
    advantage = data["ret"] - data["ret"].mean()
    logp = Categorical(logits=agent.pi(data["obs"])).log_prob(data["action"])
    loss = -(logp * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


env, agent = ElevatorEnv(), Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)
for it in range(12):
    data = collect(env, agent)
    loss = update(agent, optimizer, data)
    if it % 3 == 0:
        print(f"iter {it} loss {loss:.3f} mean return {data['ret'].mean().item():.2f}")
