"""Face-embedding training with semi-hard triplet mining (FaceNet).

For every anchor/positive pair we look for negatives that are farther than the
positive but inside the margin.  A batch without such a triplet teaches nothing
and has no update.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

MARGIN = 0.15


class EmbeddingNet(nn.Module):
    def __init__(self, dim_in=12, dim_out=6):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(dim_in, 24), nn.ReLU(), nn.Linear(24, dim_out))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=1)


class Identities:
    """A person is a cluster; some albums hold a single person."""

    def __init__(self, people=6, dim=12):
        self.centres = torch.randn(people, dim)

    def album(self, index, size=10):
        if index % 6 == 4:
            labels = torch.full((size,), index % len(self.centres))
        else:
            labels = torch.randint(0, len(self.centres), (size,))
        x = self.centres[labels] + 0.6 * torch.randn(size, self.centres.size(1))
        return x, labels


def pairwise_sq_dist(z):
    return (z[:, None, :] - z[None, :, :]).pow(2).sum(-1)


def mine(dist, labels):
    """Indices (anchor, positive, negative) of the semi-hard triplets."""
    same = labels[:, None] == labels[None, :]
    triplets = []
    for a in range(len(labels)):
        for p in range(len(labels)):
            if a == p or not same[a, p]:
                continue
            ok = (~same[a]) & (dist[a] > dist[a, p]) & (dist[a] < dist[a, p] + MARGIN)
            for n in ok.nonzero().flatten().tolist():
                triplets.append((a, p, n))
    return torch.tensor(triplets, dtype=torch.long).view(-1, 3)


def triplet_loss(dist, triplets):
    a, p, n = triplets.t()
    return F.relu(dist[a, p] - dist[a, n] + MARGIN).mean()


def recall_at_1(net, data):
    with torch.no_grad():
        x, labels = data.album(0, size=40)
        dist = pairwise_sq_dist(net(x)).fill_diagonal_(float("inf"))
        return (labels[dist.argmin(1)] == labels).float().mean().item()


def train(net, data, albums=18):
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    used = 0
    for index in range(albums):
        x, labels = data.album(index)
        dist = pairwise_sq_dist(net(x))
        triplets = mine(dist.detach(), labels)
        if len(triplets) == 0:
            continue
        loss = triplet_loss(dist, triplets)
        used += len(triplets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if index % 6 == 0:
            print(f"album {index:2d} triplets {used:4d} loss {loss.item():.4f}")
    return used


if __name__ == "__main__":
    torch.manual_seed(8)
    data = Identities()
    net = EmbeddingNet()
    train(net, data)
    print("recall@1", round(recall_at_1(net, data), 3))
