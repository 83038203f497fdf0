"""Character bigram model of first names, trained by gradient descent."""
import torch
import torch.nn.functional as F

torch.manual_seed(2147)

names = ["emma", "olivia", "ava", "isabella", "sophia", "mia", "amelia", "noah",
         "liam", "mason", "jacob", "ethan", "daniel", "aiden", "lucas", "oliver"]

chars = ["."] + sorted(set("".join(names)))
stoi = {c: i for i, c in enumerate(chars)}
V = len(chars)

xs, ys = [], []
for name in names:
    padded = ["."] + list(name) + ["."]
    for a, b in zip(padded, padded[1:]):
        xs.append(stoi[a])
        ys.append(stoi[b])
xs = torch.tensor(xs)
ys = torch.tensor(ys)
xenc = F.one_hot(xs, V).float()

W = torch.randn(V, V, requires_grad=True)
optimizer = torch.optim.SGD([W], lr=20.0)

# forward pass
logits = xenc @ W
counts = logits.exp()
prob = counts / counts.sum(1, keepdim=True)
loss = -prob[torch.arange(len(ys)), ys].log().mean() + 0.01 * (W ** 2).mean()

# gradient descent
for k in range(25):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{k:3d}  nll {loss.item():.4f}")
