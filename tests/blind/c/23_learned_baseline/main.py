"""Score-function training of a categorical policy with a smoothed baseline."""
import torch
from torch import nn


class Baseline:
    """Exponential average of what the critic says of the starts."""

    def __init__(self, decay):
        self.decay = decay
        self.average = torch.zeros(())

    def update(self, value):
        self.average = self.decay * self.average + (1 - self.decay) * value
        return self.average


class Bandit:
    def __init__(self, seed):
        self.random = torch.Generator().manual_seed(seed)
        self.payoff = torch.randn(4, 5, generator=self.random)

    def contexts(self, count):
        return torch.eye(4)[torch.randint(4, (count,), generator=self.random)]

    def pull(self, context, arm):
        return self.payoff[context.argmax(1), arm]


def main():
    torch.manual_seed(23)
    bandit, baseline = Bandit(230), Baseline(0.8)
    policy, critic = nn.Linear(4, 5), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.1)
    for step in range(1, 16):
        context = bandit.contexts(8)
        choice = torch.distributions.Categorical(logits=policy(context))
        arm = choice.sample()
        reward = bandit.pull(context, arm)
        level = baseline.update(critic(context).mean())
        actor_loss = -(choice.log_prob(arm) * (reward - level.detach())).mean()
        critic_loss = (reward.mean() - level).abs()
        optimizer.zero_grad()
        (actor_loss + critic_loss).backward(retain_graph=True)
        optimizer.step()
        if step % 5 == 0:
            print(step, f"{reward.mean().item():.3f} against {level.item():.3f}")


if __name__ == "__main__":
    main()
