"""Momentum contrast on radio fingerprints of rooms.

Two noisy scans of the same place form a positive pair; the negatives are the
keys of the last batches. The key encoder follows the query encoder by an
exponential moving average.
"""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class ScanEncoder(nn.Module):
    def __init__(self, beacons=40, dim=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(beacons, 64), nn.ReLU(),
            nn.Linear(64, 64), nn.ReLU(),
            nn.Linear(64, dim),
        )

    def forward(self, scan):
        return F.normalize(self.net(scan), dim=1)


class MoCo(nn.Module):
    def __init__(self, dim=16, queue_size=256, momentum=0.99, temperature=0.1):
        super().__init__()
        self.momentum, self.temperature = momentum, temperature
        self.query_enc = ScanEncoder(dim=dim)
        self.key_enc = copy.deepcopy(self.query_enc)
        for p in self.key_enc.parameters():
            p.requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(queue_size, dim), dim=1))
        self.ptr = 0

    @torch.no_grad()
    def follow(self):
        for q, k in zip(self.query_enc.parameters(), self.key_enc.parameters()):
            k.mul_(self.momentum).add_(q, alpha=1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        n = keys.size(0)
        self.queue[self.ptr:self.ptr + n] = keys
        self.ptr = (self.ptr + n) % self.queue.size(0)

    def forward(self, scan_q, scan_k):
        q = self.query_enc(scan_q)
        self.follow()
        with torch.no_grad():
            k = self.key_enc(scan_k)
        positive = (q * k).sum(dim=1, keepdim=True)
        negative = q @ self.queue.clone().t()
        logits = torch.cat([positive, negative], dim=1) / self.temperature
        self.enqueue(k)
        return logits


class Building:
    """Rooms with their own mean signal strengths."""

    def __init__(self, rooms=12, beacons=40, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.rooms = rooms
        self.means = torch.randn(rooms, beacons, generator=self.g)

    def places(self, n):
        room = torch.randint(0, self.rooms, (n,), generator=self.g)
        spot = self.means[room] + 0.5 * torch.randn(n, self.means.size(1), generator=self.g)
        return spot, room

    def scan(self, spot):
        heard = torch.rand(spot.shape, generator=self.g) > 0.2
        return (spot + 0.2 * torch.randn(spot.shape, generator=self.g)) * heard


@torch.no_grad()
def neighbour_accuracy(encoder, building, n=200):
    spot, room = building.places(n)
    z = encoder(building.scan(spot))
    sim = z @ z.t()
    sim.fill_diagonal_(-1)
    return (room[sim.argmax(dim=1)] == room).float().mean().item()


def main():
    torch.manual_seed(0)
    building = Building()
    model = MoCo()
    optimizer = torch.optim.SGD(model.query_enc.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=120)
    losses = []

    for step in range(120):
        spot, _ = building.places(32)
        logits = model(building.scan(spot), building.scan(spot))
        loss = F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.detach())
        if (step + 1) % 30 == 0:
            acc = neighbour_accuracy(model.query_enc, building)
            print(f"step {step + 1:3d}  loss {torch.stack(losses[-30:]).mean().item():.4f}  1-nn {acc:.3f}")


if __name__ == "__main__":
    main()
