"""LightGCN recommender trained with the BPR loss.

User and item embeddings are smoothed over the interaction graph; Adam takes one
step per mini-batch of (user, positive item, sampled negative item) triples.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)

N_USERS, N_ITEMS, DIM, LAYERS = 40, 60, 16, 2

taste = torch.randint(0, 4, (N_USERS,))
genre = torch.randint(0, 4, (N_ITEMS,))
prob = torch.where(taste[:, None] == genre[None, :], 0.5, 0.04)
interactions = torch.bernoulli(prob)
users, items = interactions.nonzero(as_tuple=True)


def normalized_adjacency(R):
    n = N_USERS + N_ITEMS
    A = torch.zeros(n, n)
    A[:N_USERS, N_USERS:] = R
    A[N_USERS:, :N_USERS] = R.t()
    d = A.sum(1).clamp(min=1).pow(-0.5)
    return (d[:, None] * A * d[None, :]).to_sparse()


class LightGCN(nn.Module):
    def __init__(self, adj):
        super().__init__()
        self.adj = adj
        self.embedding = nn.Embedding(N_USERS + N_ITEMS, DIM)
        nn.init.normal_(self.embedding.weight, std=0.1)

    def propagate(self):
        x = self.embedding.weight
        out = [x]
        for _ in range(LAYERS):
            x = torch.sparse.mm(self.adj, x)
            out.append(x)
        x = torch.stack(out).mean(0)
        return x[:N_USERS], x[N_USERS:]


def bpr_loss(user_emb, pos_emb, neg_emb):
    pos = (user_emb * pos_emb).sum(-1)
    neg = (user_emb * neg_emb).sum(-1)
    return -F.logsigmoid(pos - neg).mean()


model = LightGCN(normalized_adjacency(interactions))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

for epoch in range(6):
    perm = torch.randperm(len(users))
    user_emb, item_emb = model.propagate()
    total, n_batches = 0.0, 0
    for idx in perm.split(128):
        u, i = users[idx], items[idx]
        j = torch.randint(0, N_ITEMS, (len(idx),))
        loss = bpr_loss(user_emb[u], item_emb[i], item_emb[j])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        n_batches += 1
    print(f"epoch {epoch}  bpr {total / n_batches:.4f}")
