"""How far do people look ahead? A state-dependent discount learned from preferences.

Raters were shown two plans (reward sequences with a context per step) and said which
they like better. The model gives a discount gamma(s_t) in (0, 1) per step; the value
of a plan is the generalised return
    G_t = r_t + gamma(s_t) * G_{t+1},   G_T = 0
and P(first preferred) = sigmoid(G_0(first) - G_0(second)). Only gamma is learned.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(26)
T, CONTEXT = 8, 3


class DiscountNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(CONTEXT, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, context):
        return torch.sigmoid(self.net(context).squeeze(-1) + 1.0)


def discounted_returns(reward, gamma):
    """reward, gamma: [batch, T] -> returns: [batch, T]"""
    batch, length = reward.shape
    G = torch.zeros(batch, length + 1)
    for t in reversed(range(length)):
        G[:, t] = reward[:, t] + gamma[:, t] * G[:, t + 1]
    return G[:, :-1]


class Plan:
    def __init__(self, n):
        self.context = torch.randn(n, T, CONTEXT)
        self.reward = torch.randn(n, T)

    def value(self, discount):
        return discounted_returns(self.reward, discount(self.context))[:, 0]


def true_discount(context):
    return torch.sigmoid(1.5 * context[..., 0] - 0.5)


def preferences(n):
    first, second = Plan(n), Plan(n)
    with torch.no_grad():
        margin = first.value(true_discount) - second.value(true_discount)
        label = torch.bernoulli(torch.sigmoid(margin))
    return first, second, label


def fit(steps=25):
    discount = DiscountNet()
    opt = torch.optim.Adam(discount.parameters(), lr=0.02)
    for step in range(steps):
        first, second, label = preferences(48)
        logit = first.value(discount) - second.value(discount)
        loss = F.binary_cross_entropy_with_logits(logit, label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 6 == 0:
            print(f"step {step} nll {loss.item():.4f}")
    return discount


if __name__ == "__main__":
    fit()
