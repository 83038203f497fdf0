"""Q-learning with a replay memory and a slowly moving target network."""
import copy
import random
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F


class Chain:
    def __init__(self, n=6):
        self.n, self.s = n, 0

    def obs(self):
        return F.one_hot(torch.tensor(self.s), self.n).float()

    def step(self, a):
        self.s = min(self.s + 1, self.n - 1) if a == 1 else 0
        done = self.s == self.n - 1
        reward = 1.0 if done else 0.0
        if done:
            self.s = 0
        return self.obs(), reward, done


def main():
    random.seed(25)
    torch.manual_seed(25)
    env = Chain()
    q = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
    target = copy.deepcopy(q)
    opt = torch.optim.Adam(q.parameters(), lr=5e-3)
    memory = deque(maxlen=200)
    state = env.obs()
    losses = []
    for t in range(60):
        with torch.no_grad():
            greedy = q(state).argmax().item()
        action = random.randrange(2) if random.random() < 0.4 else greedy
        nxt, reward, done = env.step(action)
        memory.append((state, action, reward, nxt, float(done)))
        state = nxt
        if t < 16:
            continue
        batch = random.sample(list(memory), 8)
        s, a, r, n, d = zip(*batch)
        s, n = torch.stack(s), torch.stack(n)
        a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d)
        best = q(n).argmax(1, keepdim=True)
        goal = r + 0.9 * (1 - d) * target(n).gather(1, best).squeeze(1).detach()
        value = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(value, goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for p, tp in zip(q.parameters(), target.parameters()):
                tp.mul_(0.95).add_(0.05 * p)
        losses.append(loss.detach())
    print(f"mean TD loss {torch.stack(losses).mean().item():.5f} over {len(losses)} updates")


if __name__ == "__main__":
    main()
