"""Momentum contrast for leaf images on top of a fixed filter bank.

The filter bank is a random convolutional network that stays as it is; its
features are computed once.  The query encoder is trained with InfoNCE against a
queue of older keys, the key encoder follows it slowly.
"""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class FilterBank(nn.Module):
    def __init__(self, out_channels=24):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 5, stride=2, padding=2)
        self.conv2 = nn.Conv2d(12, out_channels, 3, stride=2, padding=1)
        for p in self.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        return F.adaptive_avg_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 3).flatten(1)


class Encoder(nn.Module):
    def __init__(self, in_dim, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(in_dim, 96), nn.ReLU(), nn.Linear(96, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class MoCo(nn.Module):
    def __init__(self, in_dim, dim=32, queue_size=256, momentum=0.97, temperature=0.15):
        super().__init__()
        self.query = Encoder(in_dim, dim)
        self.key = copy.deepcopy(self.query)
        for p in self.key.parameters():
            p.requires_grad = False
        self.momentum = momentum
        self.temperature = temperature
        self.register_buffer("queue", F.normalize(torch.randn(queue_size, dim), dim=1))
        self.cursor = 0

    @torch.no_grad()
    def follow(self):
        for p_q, p_k in zip(self.query.parameters(), self.key.parameters()):
            p_k.data = self.momentum * p_k.data + (1 - self.momentum) * p_q.data

    @torch.no_grad()
    def push(self, keys):
        end = self.cursor + len(keys)
        self.queue[self.cursor:end] = keys
        self.cursor = end % len(self.queue)

    def forward(self, view_a, view_b):
        q = self.query(view_a)
        k = self.key(view_b)
        positive = (q * k).sum(dim=1, keepdim=True)
        negative = q @ self.queue.clone().t()
        logits = torch.cat([positive, negative], dim=1) / self.temperature
        labels = torch.zeros(len(q), dtype=torch.long)
        return F.cross_entropy(logits, labels), k


def leaf_images(n, size=24):
    grid = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    species = torch.arange(n) % 6
    stretch = (0.4 + 0.15 * species).view(-1, 1, 1)
    veins = (4 + 3 * species).view(-1, 1, 1)
    body = ((xx / stretch) ** 2 + yy ** 2 < 0.8).float()
    image = body * (0.6 + 0.4 * torch.sin(veins * (yy + xx.abs())))
    return image.unsqueeze(1) + 0.1 * torch.randn(n, 1, size, size), species


def augment(features):
    keep = (torch.rand_like(features) > 0.2).float()
    return features * keep + 0.1 * torch.randn_like(features)


def neighbour_accuracy(encoder, features, species):
    with torch.no_grad():
        z = encoder(features)
        sim = z @ z.t()
        sim.fill_diagonal_(-1)
    return (species[sim.argmax(dim=1)] == species).float().mean().item()


def main():
    torch.manual_seed(12)
    images, species = leaf_images(384)
    features = FilterBank()(images)
    features = (features - features.mean(dim=0)) / (features.std(dim=0) + 1e-5)

    model = MoCo(features.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)

    history = []
    for epoch in range(12):
        for idx in torch.randperm(len(features)).split(32):
            batch = features[idx]
            model.follow()
            loss, keys = model(augment(batch), augment(batch))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.push(keys)
            history.append(loss.detach())
        if epoch % 2 == 0:
            mean = torch.stack(history[-12:]).mean().item()
            acc = neighbour_accuracy(model.query, features, species)
            print(f"epoch {epoch:2d}  infonce {mean:.4f}  1-nn accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
