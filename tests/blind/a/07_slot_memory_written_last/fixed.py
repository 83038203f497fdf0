"""Few-shot classifier with a slot memory that is written after each episode's loss."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F


class SlotMemory(nn.Module):
    def __init__(self, slots=6, width=8):
        super().__init__()
        self.key = nn.Linear(width, slots)
        self.gate = nn.Linear(width, 1)
        self.register_buffer("content", torch.zeros(slots, width))

    def read(self, z):
        w = F.softmax(self.key(z), dim=-1)
        return torch.sigmoid(self.gate(z)) * (w @ self.content)

    def write(self, z):
        w = F.softmax(self.key(z), dim=-1)
        g = torch.sigmoid(self.gate(z)).mean()
        new = w.t() @ z / (w.sum(0).unsqueeze(1) + 1e-6)
        self.content = (1 - 0.2 * g) * self.content + 0.2 * g * new


class Net(nn.Module):
    def __init__(self, d_in=5, width=8, classes=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d_in, 16), nn.ReLU(), nn.Linear(16, width))
        self.memory = SlotMemory(width=width)
        self.cls = nn.Linear(2 * width, classes)

    def forward(self, x):
        z = self.enc(x)
        return self.cls(torch.cat([z, self.memory.read(z)], dim=1)), z


def episodes(n, gen):
    centres = torch.randn(3, 5, generator=gen) * 1.5
    for _ in range(n):
        y = torch.randint(0, 3, (12,), generator=gen)
        yield centres[y] + 0.6 * torch.randn(12, 5, generator=gen), y


def train(n_episodes=24):
    torch.manual_seed(7)
    gen = torch.Generator().manual_seed(77)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    history = []
    for step, (x, y) in enumerate(episodes(n_episodes, gen)):
        logits, z = net(x)
        loss = F.cross_entropy(logits, y)
        with torch.no_grad():
            net.memory.write(z)
        opt.zero_grad()
        loss.backward()
        opt.step()
        acc = (logits.argmax(1) == y).float().mean().item()
        history.append((loss.item(), acc))
        if step % 6 == 5:
            recent = history[-6:]
            print(f"episode {step + 1}: loss {sum(h[0] for h in recent) / 6:.4f} "
                  f"acc {sum(h[1] for h in recent) / 6:.3f}")
    return net


if __name__ == "__main__":
    net = train()
    os.makedirs("out", exist_ok=True)
    torch.save({"net": net.state_dict(), "slots": net.memory.content.detach()}, "out/net.pt")
    print("memory norm %.4f" % net.memory.content.norm().item())
