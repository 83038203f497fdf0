"""Collaborative filtering with graph propagation and BPR batches."""
import os

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class LightGCN(nn.Module):
    def __init__(self, n_users, n_items, adj, dim=8, layers=2):
        super().__init__()
        self.n_users, self.n_items, self.layers, self.adj = n_users, n_items, layers, adj
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def propagate(self):
        e = torch.cat([self.user.weight, self.item.weight])
        out = [e]
        for _ in range(self.layers):
            e = torch.sparse.mm(self.adj, e)
            out.append(e)
        return torch.stack(out).mean(0).split([self.n_users, self.n_items])


def interactions(n_users=8, n_items=10):
    pairs = [(u, i) for u in range(n_users) for i in range(n_items) if (u + i) % 2 == 0 and (u * i) % 3 != 1]
    return torch.tensor(pairs)


def normalised(pairs, n_users, n_items):
    u, i = pairs[:, 0], pairs[:, 1] + n_users
    idx = torch.stack([torch.cat([u, i]), torch.cat([i, u])])
    deg = torch.bincount(idx[0], minlength=n_users + n_items).clamp(min=1).float()
    val = deg[idx[0]].rsqrt() * deg[idx[1]].rsqrt()
    return torch.sparse_coo_tensor(idx, val, (n_users + n_items,) * 2).coalesce()


def bpr(users, items, u, pos, neg):
    return F.softplus((users[u] * items[neg]).sum(1) - (users[u] * items[pos]).sum(1)).mean()


def recall(users, items, pairs, k=4):
    top = (users @ items.t()).topk(k).indices
    return sum(int(i) in top[int(u)].tolist() for u, i in pairs) / len(pairs)


def main():
    torch.manual_seed(11)
    pairs = interactions()
    model = LightGCN(8, 10, normalised(pairs, 8, 10))
    opt = torch.optim.Adam(model.parameters(), lr=0.05)
    loader = DataLoader(TensorDataset(pairs), batch_size=8, shuffle=True)
    os.makedirs("out", exist_ok=True)
    for epoch in range(5):
        users, items = model.propagate()
        total = 0.0
        for (batch,) in loader:
            neg = torch.randint(0, 10, (len(batch),))
            loss = bpr(users, items, batch[:, 0], batch[:, 1], neg)
            reg = 1e-3 * (model.user.weight[batch[:, 0]] ** 2).sum()
            opt.zero_grad()
            (loss + reg).backward()
            opt.step()
            total += loss.item()
        with torch.no_grad():
            r = recall(*model.propagate(), pairs)
        torch.save(model.state_dict(), "out/lightgcn.pt")
        print(f"epoch {epoch} bpr {total / len(loader):.4f} recall@4 {r:.3f}")


if __name__ == "__main__":
    main()
