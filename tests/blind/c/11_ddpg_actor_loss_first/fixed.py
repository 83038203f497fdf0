"""Deep deterministic policy gradient on a point that has to reach the origin."""
import copy

import torch
from torch import nn
import torch.nn.functional as F


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 16), nn.ReLU(), nn.Linear(16, n_out))


class Buffer:
    def __init__(self, seed):
        self.random = torch.Generator().manual_seed(seed)

    def sample(self, size):
        state = torch.randn(size, 3, generator=self.random)
        action = torch.rand(size, 3, generator=self.random) * 2 - 1
        after = state + 0.3 * action
        return state, action, -after.norm(dim=1, keepdim=True), after


class DDPG:
    def __init__(self, gamma=0.9, tau=0.1):
        self.gamma, self.tau = gamma, tau
        self.actor, self.critic = mlp(3, 3), mlp(6, 1)
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    def q(self, critic, state, action):
        return critic(torch.cat([state, action], dim=1))

    def learn(self, state, action, reward, after):
        with torch.no_grad():
            following = torch.tanh(self.actor_target(after))
            target = reward + self.gamma * self.q(self.critic_target, after, following)
        critic_loss = F.mse_loss(self.q(self.critic, state, action), target)

        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actor_loss = -self.q(self.critic, state, torch.tanh(self.actor(state))).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        self.follow(self.actor_target, self.actor)
        self.follow(self.critic_target, self.critic)
        return critic_loss.item(), actor_loss.item()

    @torch.no_grad()
    def follow(self, slow, fast):
        for a, b in zip(slow.parameters(), fast.parameters()):
            a.lerp_(b, self.tau)


def main():
    torch.manual_seed(11)
    agent, buffer = DDPG(), Buffer(111)
    for step in range(15):
        losses = agent.learn(*buffer.sample(12))
        if step % 5 == 4:
            print(step + 1, "critic %.4f actor %.4f" % losses)


if __name__ == "__main__":
    main()
