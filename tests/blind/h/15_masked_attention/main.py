"""Set classification with one attention pooling layer; padded elements are masked out."""
import torch
from torch import nn
import torch.nn.functional as F


class AttentionPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Parameter(torch.randn(dim) / dim ** 0.5)
        self.key = nn.Linear(dim, dim, bias=False)
        self.value = nn.Linear(dim, dim)

    def forward(self, h, mask):
        scores = self.key(h) @ self.query
        attention = torch.softmax(scores, dim=1)
        attention *= mask
        attention = attention / (attention.sum(1, keepdim=True) + 1e-8)
        return (attention.unsqueeze(-1) * self.value(h)).sum(1)


class SetNet(nn.Module):
    def __init__(self, inputs, dim=24, classes=2):
        super().__init__()
        self.element = nn.Sequential(nn.Linear(inputs, dim), nn.ReLU())
        self.pool = AttentionPool(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x, mask):
        return self.head(self.pool(self.element(x), mask))


def make_sets(n, size=8, d=5):
    """Label: does the set hold an element whose first feature is above 1.2?"""
    x = torch.randn(n, size, d)
    lengths = torch.randint(3, size + 1, (n,))
    mask = (torch.arange(size)[None, :] < lengths[:, None]).float()
    y = ((x[..., 0] > 1.2) & (mask > 0)).any(1).long()
    return x, mask, y


torch.manual_seed(33)
train, test = make_sets(400), make_sets(200)
net = SetNet(5)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)

for epoch in range(10):
    running = 0.0
    for rows in torch.randperm(400).split(50):
        x, mask, y = (part[rows] for part in train)
        loss = F.cross_entropy(net(x, mask), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    with torch.no_grad():
        accuracy = (net(*test[:2]).argmax(1) == test[2]).float().mean().item()
    print(f"epoch {epoch}: loss {running / 8:.4f}  test accuracy {accuracy:.3f}")
