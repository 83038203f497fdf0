"""REINFORCE for a one-dimensional warehouse robot: reach the loading dock quickly."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(11)


class Corridor:
    """Cells 0..9, dock at cell 9; the robot starts somewhere in the left half."""

    def reset(self):
        self.pos = int(torch.randint(0, 5, ()))
        self.t = 0
        return self.observe()

    def observe(self):
        return torch.tensor([self.pos / 9.0, self.t / 30.0])

    def step(self, action):
        self.pos = max(0, min(9, self.pos + (1 if action == 1 else -1)))
        self.t += 1
        docked = self.pos == 9
        return self.observe(), (1.0 if docked else -0.05), docked or self.t >= 30


class ReinforceAgent:
    def __init__(self, gamma=0.98, lr=1e-2):
        self.policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.gamma = gamma
        self.log_probs = []
        self.rewards = []

    def act(self, obs):
        dist = Categorical(logits=self.policy(obs))
        action = dist.sample()
        self.log_probs.append(dist.log_prob(action))
        return action.item()

    def returns(self):
        out, g = [], 0.0
        for r in reversed(self.rewards):
            g = r + self.gamma * g
            out.append(g)
        return torch.tensor(out[::-1])

    def finish_episode(self):
        """One policy-gradient update from the episode that just ended."""
        returns = self.returns()
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        policy_loss = -(torch.stack(self.log_probs) * returns).sum()
        self.optimizer.zero_grad()
        policy_loss.backward()
        self.optimizer.step()
        self.log_probs.clear()
        self.rewards.clear()
        return policy_loss.item()


env, agent = Corridor(), ReinforceAgent()
for episode in range(15):
    obs, done, score = env.reset(), False, 0.0
    while not done:
        action = agent.act(obs)
        obs, reward, done = env.step(action)
        agent.rewards.append(reward)
        score += reward
    loss = agent.finish_episode()
    print(f"episode {episode:2d}  score {score:6.2f}  loss {loss:8.3f}")
