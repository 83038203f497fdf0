"""Advantage actor-critic on a two-armed contextual bandit, separate networks for policy and value."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(20)

CONTEXT, ARMS = 4, 3
policy_net = nn.Sequential(nn.Linear(CONTEXT, 24), nn.Tanh(), nn.Linear(24, ARMS))
value_net = nn.Sequential(nn.Linear(CONTEXT, 24), nn.Tanh(), nn.Linear(24, 1))
policy_opt = torch.optim.Adam(policy_net.parameters(), lr=1e-2)
value_opt = torch.optim.Adam(value_net.parameters(), lr=1e-2)
payoff = torch.randn(CONTEXT, ARMS)


def pull(context, arm):
    mean = (context @ payoff).gather(1, arm[:, None]).squeeze(1)
    return mean + 0.3 * torch.randn(len(arm))


def update(batch=64):
    context = torch.randn(batch, CONTEXT)
    dist = Categorical(logits=policy_net(context))
    arm = dist.sample()
    reward = pull(context, arm)

    value = value_net(context).squeeze(1)
    advantage = (reward - value).detach()

    # actor: make arms with a positive advantage likelier
    policy_loss = -(dist.log_prob(arm) * advantage).mean() - 0.01 * dist.entropy().mean()
    policy_opt.zero_grad()
    policy_loss.backward()

    # critic: regress on the reward
    value_loss = F.mse_loss(value, reward)
    value_opt.zero_grad()
    value_loss.backward()

    policy_opt.step()
    value_opt.step()
    return reward.mean().item(), value_loss.item()


rewards = []
for it in range(150):
    reward, value_loss = update()
    rewards.append(reward)
    if it % 30 == 29:
        print(f"iteration {it}: reward {sum(rewards[-30:]) / 30:.3f}  value loss {value_loss:.3f}")
