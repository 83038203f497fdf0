"""Broken: the actor is taught by an advantage that still knows how the critic computed it.

The critic estimates what a state is worth, the actor learns from how much better than that things went. The advantage
stands in both losses. The critic's backward pass frees the critic's graph, and the actor's needs it again,
through the advantage. Look for a number that should only weigh a loss, and is still a part of another network's graph.
"""

import torch
from torch import Tensor, nn


class Corridor:
    """Many walkers on a line; each wants to reach its own goal, left or right of it."""

    def __init__(self, walkers: int) -> None:
        self.distance = torch.empty(walkers, 1).uniform_(-3, 3)

    def observe(self) -> Tensor:
        """How far the goals are, and on which side."""
        return torch.cat([self.distance, self.distance.sign()], dim=1)

    def step(self, actions: Tensor) -> Tensor:
        """Go left (0) or right (1); the reward is how much nearer the goal is."""
        before = self.distance.abs()
        self.distance = self.distance - (2.0 * actions.unsqueeze(1) - 1)
        return (before - self.distance.abs()).squeeze(1)


def train(updates: int) -> None:
    """One-step actor-critic with a network and an optimizer each."""
    torch.manual_seed(0)
    actor = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=0.02)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=0.02)
    for update in range(updates):
        corridor = Corridor(walkers=64)
        state = corridor.observe()
        policy = torch.distributions.Categorical(logits=actor(state))
        actions = policy.sample()
        rewards = corridor.step(actions)
        advantage = rewards - critic(state).squeeze(1)

        critic_loss = advantage.pow(2).mean()
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()

        actor_loss = -(policy.log_prob(actions) * advantage).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        if update % 20 == 0:
            print(f"update {update + 1}: reward {rewards.mean().item():.3f}, critic loss {critic_loss.item():.4f}")


if __name__ == "__main__":
    train(updates=101)
