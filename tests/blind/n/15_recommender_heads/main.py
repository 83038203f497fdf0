import torch
import torch.nn as nn

torch.manual_seed(88)

# click / like / share prediction from user and item embeddings
n_users, n_items, dim = 50, 80, 8
user_emb = nn.Embedding(n_users, dim)
item_emb = nn.Embedding(n_items, dim)
heads = nn.ModuleList([nn.Linear(2 * dim, 1) for _ in range(3)])

params = [*user_emb.parameters(), *item_emb.parameters(), *heads.parameters()]
optimizer = torch.optim.Adam(params, lr=1e-2)
bce = nn.BCEWithLogitsLoss()

users = torch.randint(0, n_users, (400,))
items = torch.randint(0, n_items, (400,))
affinity = torch.randn(n_users, 3)[users] + torch.randn(n_items, 3)[items]
labels = (affinity > 0.5).float()

for epoch in range(3):
    for idx in torch.randperm(400).split(100):
        x = torch.cat([user_emb(users[idx]), item_emb(items[idx])], dim=1)
        losses = []
        for k, head in enumerate(heads):
            losses.append(bce(head(x).squeeze(1), labels[idx, k]))
        loss = torch.tensor(losses).mean()   # mean over the three tasks

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")
