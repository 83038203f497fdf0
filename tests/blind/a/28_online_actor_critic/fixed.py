"""One-step actor-critic on a small corridor."""
import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    """Walk right to reach the goal; start in the middle."""

    def __init__(self, n=7):
        self.n = n

    def reset(self):
        self.pos, self.t = self.n // 2, 0
        return self.observe()

    def observe(self):
        x = torch.zeros(self.n)
        x[self.pos] = 1.0
        return x

    def step(self, action):
        self.t += 1
        self.pos = max(0, min(self.n - 1, self.pos + (1 if action == 1 else -1)))
        done = self.pos == self.n - 1 or self.t >= 12
        reward = 1.0 if self.pos == self.n - 1 else -0.05
        return self.observe(), reward, done


class Agent:
    def __init__(self, n, gamma=0.95):
        self.gamma = gamma
        self.actor = nn.Sequential(nn.Linear(n, 16), nn.Tanh(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(n, 16), nn.Tanh(), nn.Linear(16, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=5e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-2)

    def act(self, state):
        dist = Categorical(logits=self.actor(state))
        action = dist.sample()
        return action.item(), dist.log_prob(action), dist.entropy()

    def learn(self, state, log_prob, entropy, reward, next_state, done):
        with torch.no_grad():
            bootstrap = torch.zeros(1) if done else self.critic(next_state)
        td_error = reward + self.gamma * bootstrap - self.critic(state)

        critic_loss = td_error.pow(2).mean()
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        actor_loss = (-log_prob * td_error.detach()).mean() - 0.01 * entropy
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        return critic_loss.item()


def main():
    torch.manual_seed(28)
    env = Corridor()
    agent = Agent(env.n)
    lengths = []
    for episode in range(24):
        state, done, ret = env.reset(), False, 0.0
        while not done:
            action, log_prob, entropy = agent.act(state)
            next_state, reward, done = env.step(action)
            agent.learn(state, log_prob, entropy, reward, next_state, done)
            state, ret = next_state, ret + reward
        lengths.append(env.t)
        if episode % 6 == 5:
            print(f"episode {episode + 1}: mean length {sum(lengths[-6:]) / 6:.2f} return {ret:.2f}")


if __name__ == "__main__":
    main()
