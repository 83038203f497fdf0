"""REINFORCE on a two-dimensional balancing toy."""
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical


class Pole:
    """A stick that falls to the side it leans to, unless pushed."""

    def __init__(self):
        self.noise = torch.Generator().manual_seed(9)

    def reset(self):
        self.state = 0.1 * torch.randn(2, generator=self.noise)
        return self.state

    def step(self, action):
        angle, speed = self.state.tolist()
        speed += 0.15 * angle + (0.05 if action == 1 else -0.05)
        angle += speed
        self.state = torch.tensor([angle, speed])
        return self.state, 1.0, abs(angle) > 1.0


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(2, 16)
        self.affine2 = nn.Linear(16, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return torch.softmax(self.affine2(torch.relu(self.affine1(x))), dim=-1)


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)


def select_action(state):
    m = Categorical(policy(state))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode(gamma=0.95, eps=1e-6):
    R, returns, policy_loss = 0, [], []
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.stack(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    return policy_loss.item()


def main():
    env = Pole()
    for i_episode in range(8):
        state, ep_reward = env.reset(), 0
        for t in range(20):
            state, reward, done = env.step(select_action(state))
            policy.rewards.append(reward)
            ep_reward += reward
            if done:
                break
        loss = finish_episode()
        print(f"Episode {i_episode}\treward: {ep_reward:.0f}\tloss: {loss:.3f}")


if __name__ == "__main__":
    torch.manual_seed(543)
    policy.affine1.reset_parameters()
    policy.affine2.reset_parameters()
    main()
