import torch


class ReplayMemory:
    def __init__(self, obs, act, capacity=256):
        self.s = torch.zeros(capacity, obs)
        self.a = torch.zeros(capacity, act)
        self.r = torch.zeros(capacity, 1)
        self.s2 = torch.zeros(capacity, obs)
        self.done = torch.zeros(capacity, 1)
        self.capacity, self.size, self.head = capacity, 0, 0

    def push(self, s, a, r, s2, done):
        i = self.head
        self.s[i], self.a[i], self.r[i], self.s2[i], self.done[i] = s, a, r, s2, float(done)
        self.head = (i + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def sample(self, n):
        idx = torch.randint(0, self.size, (n,))
        return self.s[idx], self.a[idx], self.r[idx], self.s2[idx], self.done[idx]
