"""Differential TD for a kiosk queue (continuing task, no discount).

    delta = r - rbar + V(s') - V(s),   V moves on delta, rbar moves by eta * mean(delta)

(Sutton & Barto, ch. 10.3.) rbar is a running estimate of the average reward.
"""
import torch
import torch.nn as nn

torch.manual_seed(27)
CAPACITY = 8


class KioskQueue:
    """Several kiosks in parallel; the state is the length of the queue."""

    def __init__(self, n):
        self.length = torch.randint(0, CAPACITY, (n,))

    def observe(self):
        x = self.length.float() / CAPACITY
        return torch.stack([x, x ** 2, torch.ones_like(x)], dim=1)

    def advance(self):
        arrive = torch.bernoulli(torch.full(self.length.shape, 0.5)).long()
        serve = torch.bernoulli(torch.full(self.length.shape, 0.55)).long()
        served = serve * (self.length > 0)
        self.length = (self.length + arrive - served).clamp(0, CAPACITY)
        return served.float() - 0.1 * self.length.float()


class DifferentialTD:
    def __init__(self, lr=5e-3, eta=0.05):
        self.value = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
        self.opt = torch.optim.Adam(self.value.parameters(), lr=lr)
        self.rbar = torch.tensor(0.0)
        self.eta = eta

    def update(self, obs, reward, nxt):
        v = self.value(obs).squeeze(1)
        with torch.no_grad():
            target = reward - self.rbar + self.value(nxt).squeeze(1)
        delta = target - v
        loss = 0.5 * delta.pow(2).mean()

        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

        self.rbar = self.rbar + self.eta * delta.mean()
        return loss.item()


env = KioskQueue(32)
learner = DifferentialTD()
obs = env.observe()
for step in range(40):
    reward = env.advance()
    nxt = env.observe()
    loss = learner.update(obs, reward, nxt)
    obs = nxt
    if step % 10 == 0:
        print(f"step {step} loss {loss:.4f} average reward {float(learner.rbar):.4f}")
