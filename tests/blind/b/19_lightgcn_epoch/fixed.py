"""Graph recommender on a rating file; pairwise ranking loss, early stopping."""
import argparse
import csv
import os

import torch
from torch import nn
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))


def read_ratings(path):
    with open(path, newline="") as handle:
        rows = [(int(r["user"]), int(r["item"])) for r in csv.DictReader(handle) if float(r["rating"]) >= 3]
    users = torch.tensor([u for u, _ in rows])
    items = torch.tensor([i for _, i in rows])
    return users, items


def normalised_adjacency(users, items, n_users, n_items):
    n = n_users + n_items
    adj = torch.zeros(n, n)
    adj[users, items + n_users] = 1.0
    adj[items + n_users, users] = 1.0
    degree = adj.sum(1).clamp(min=1.0).pow(-0.5)
    return degree.unsqueeze(1) * adj * degree.unsqueeze(0)


class LightGCN(nn.Module):
    def __init__(self, adj, n_users, n_items, width=8, layers=2):
        super().__init__()
        self.n_users, self.layers = n_users, layers
        self.register_buffer("adj", adj)
        self.embedding = nn.Embedding(n_users + n_items, width)
        nn.init.normal_(self.embedding.weight, std=0.1)

    def forward(self):
        out = [self.embedding.weight]
        for _ in range(self.layers):
            out.append(self.adj @ out[-1])
        final = torch.stack(out).mean(0)
        return final[:self.n_users], final[self.n_users:]


def bpr_loss(user, pos, neg):
    return -F.logsigmoid((user * pos).sum(1) - (user * neg).sum(1)).mean()


class EarlyStopping:
    def __init__(self, patience=3):
        self.patience, self.best, self.bad = patience, float("inf"), 0

    def __call__(self, value):
        if value < self.best - 1e-4:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def train(args, users, items):
    n_users, n_items = int(users.max()) + 1, int(items.max()) + 1
    model = LightGCN(normalised_adjacency(users, items, n_users, n_items), n_users, n_items)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    stopper = EarlyStopping()
    os.makedirs("logs", exist_ok=True)
    with open("logs/train.csv", "w", newline="") as handle:
        log = csv.writer(handle)
        log.writerow(["epoch", "loss"])
        for epoch in range(args.epochs):
            model.train()
            order = torch.randperm(len(users))
            total = 0.0
            for batch in order.split(args.batch):
                u, i = users[batch], items[batch]
                j = torch.randint(0, n_items, i.shape)
                user_emb, item_emb = model()
                loss = bpr_loss(user_emb[u], item_emb[i], item_emb[j])
                loss = loss + args.decay * model.embedding(u).pow(2).sum() / len(u)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(u)
            mean = total / len(users)
            log.writerow([epoch, f"{mean:.5f}"])
            print(f"epoch {epoch}: loss {mean:.4f}")
            if stopper(mean):
                break
    torch.save(model.state_dict(), "logs/model.pt")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.path.join(HERE, "..", "data", "ratings.csv"))
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=2e-2)
    parser.add_argument("--decay", type=float, default=1e-3)
    args = parser.parse_args()
    torch.manual_seed(19)
    train(args, *read_ratings(args.data))


if __name__ == "__main__":
    main()
