"""Matrix factorization with biases for movie ratings."""
import torch
from torch import nn


class MatrixFactorization(nn.Module):
    def __init__(self, n_users, n_items, k):
        super().__init__()
        self.users = nn.Embedding(n_users, k)
        self.items = nn.Embedding(n_items, k)
        self.user_bias = nn.Embedding(n_users, 1)
        self.item_bias = nn.Embedding(n_items, 1)
        for table in (self.users, self.items):
            nn.init.normal_(table.weight, std=0.3)
        for bias in (self.user_bias, self.item_bias):
            nn.init.zeros_(bias.weight)

    def forward(self, u, i):
        dot = (self.users(u) * self.items(i)).sum(dim=1)
        return dot + self.user_bias(u).squeeze(1) + self.item_bias(i).squeeze(1)


def synthetic_ratings(n, n_users, n_items):
    u = torch.randint(n_users, (n,))
    i = torch.randint(n_items, (n,))
    taste, quality = torch.randn(n_users), torch.randn(n_items)
    return u, i, 3 + taste[u] * 0.5 + quality[i] * 0.5 + 0.1 * torch.randn(n)


class Recommender:
    def __init__(self, model, lr=0.05, l2=1e-4):
        self.model = model
        self.loss_fn = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=l2)

    def training_step(self, u, i, rating):
        self.optimizer.zero_grad()
        loss = self.loss_fn(self.model(u, i), rating)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, data, epochs, batch_size=32):
        u, i, rating = data
        for epoch in range(epochs):
            total = 0.0
            for idx in torch.randperm(len(u)).split(batch_size):
                total += self.training_step(u[idx], i[idx], rating[idx]) * len(idx)
            print(f"epoch {epoch}: mse {total / len(u):.4f}")


if __name__ == "__main__":
    torch.manual_seed(10)
    data = synthetic_ratings(192, n_users=20, n_items=15)
    Recommender(MatrixFactorization(20, 15, k=4)).fit(data, epochs=6)
