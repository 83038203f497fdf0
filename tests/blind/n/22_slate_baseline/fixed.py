"""Choose one of six banners for a visitor: policy gradient with a learned baseline."""
import torch
from torch import nn, optim
from torch.distributions import Categorical

torch.manual_seed(3)

N_BANNERS, CONTEXT = 6, 5


class Visitors:
    def __init__(self):
        self.taste = torch.randn(CONTEXT, N_BANNERS)

    def arrive(self, n):
        return torch.randn(n, CONTEXT)

    def click(self, ctx, banner):
        p = torch.sigmoid((ctx @ self.taste).gather(1, banner[:, None]).squeeze(1))
        return torch.bernoulli(p)


policy = nn.Sequential(nn.Linear(CONTEXT, 24), nn.Tanh(), nn.Linear(24, N_BANNERS))
baseline = nn.Sequential(nn.Linear(CONTEXT, 24), nn.Tanh(), nn.Linear(24, 1))
policy_opt = optim.Adam(policy.parameters(), lr=1e-2)
baseline_opt = optim.Adam(baseline.parameters(), lr=1e-2)

visitors = Visitors()
for day in range(30):
    ctx = visitors.arrive(64)
    choice = Categorical(logits=policy(ctx))
    banner = choice.sample()
    reward = visitors.click(ctx, banner)

    expected = baseline(ctx).squeeze(1)
    advantage = reward - expected

    policy_loss = -(choice.log_prob(banner) * advantage.detach()).mean() - 0.01 * choice.entropy().mean()
    policy_opt.zero_grad()
    policy_loss.backward()
    policy_opt.step()

    # regress the baseline on the observed clicks
    baseline_loss = advantage.pow(2).mean()
    baseline_opt.zero_grad()
    baseline_loss.backward()
    baseline_opt.step()

    if day % 10 == 0:
        print(f"day {day:2d}  ctr {reward.mean().item():.3f}  baseline mse {baseline_loss.item():.3f}")
