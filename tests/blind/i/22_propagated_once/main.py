"""LightGCN for recommendations: embeddings are averaged over the user-item graph before they are compared."""
import torch
import torch.nn.functional as F


def interactions(users, items, taste_dim=3):
    u, v = torch.randn(users, taste_dim), torch.randn(items, taste_dim)
    liked = (u @ v.T) > 1.5
    return liked.nonzero(), liked


def normalized_adjacency(pairs, users, items):
    n = users + items
    a = torch.zeros(n, n)
    a[pairs[:, 0], users + pairs[:, 1]] = 1
    a[users + pairs[:, 1], pairs[:, 0]] = 1
    degree = a.sum(1).clamp_min(1).rsqrt()
    return degree[:, None] * a * degree[None, :]


class LightGCN:
    def __init__(self, pairs, users, items, dim=12, layers=2):
        self.users, self.layers = users, layers
        self.adjacency = normalized_adjacency(pairs, users, items)
        self.embedding = torch.nn.Parameter(0.1 * torch.randn(users + items, dim))

    def propagate(self):
        """Mean of the embeddings after 0, 1, ..., layers rounds of message passing."""
        rounds = [self.embedding]
        for _ in range(self.layers):
            rounds.append(self.adjacency @ rounds[-1])
        return torch.stack(rounds).mean(0)


def bpr(final, users, u, i, j):
    positive = (final[u] * final[users + i]).sum(1)
    negative = (final[u] * final[users + j]).sum(1)
    return F.softplus(negative - positive).mean()


torch.manual_seed(38)
USERS, ITEMS = 40, 50
pairs, liked = interactions(USERS, ITEMS)
model = LightGCN(pairs, USERS, ITEMS)
optimizer = torch.optim.Adam([model.embedding], lr=1e-2)

final = model.propagate()
for step in range(150):
    rows = torch.randint(len(pairs), (64,))
    u, i = pairs[rows].unbind(1)
    j = torch.randint(ITEMS, (64,))
    loss = bpr(final, USERS, u, i, j)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    if step % 30 == 29:
        print(f"step {step}: bpr loss {loss.item():.4f}")

with torch.no_grad():
    final = model.propagate()
    scores = final[:USERS] @ final[USERS:].T
    hit = liked.gather(1, scores.topk(5, dim=1).indices).float().mean().item()
print(f"precision at 5: {hit:.3f}")
