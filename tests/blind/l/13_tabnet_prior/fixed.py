"""TabNet in small: sequential attention over the columns of a table.

After each decision step the prior of a column is scaled by (gamma - mask), so
that a column already used is less likely to be used again.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

GAMMA = 1.3


class Attentive(nn.Module):
    def __init__(self, n_in, n_cols):
        super().__init__()
        self.fc = nn.Linear(n_in, n_cols)

    def forward(self, prior, a):
        return torch.softmax(self.fc(a) * prior, dim=-1)


class TabNet(nn.Module):
    def __init__(self, n_cols, n_d=6, n_a=6, steps=3, classes=2):
        super().__init__()
        self.n_d = n_d
        self.shared = nn.Linear(n_cols, 2 * (n_d + n_a))
        self.attentive = nn.ModuleList(Attentive(n_a, n_cols) for _ in range(steps))
        self.final = nn.Linear(n_d, classes)

    def split(self, x):
        h = F.glu(self.shared(x), dim=-1)
        return F.relu(h[:, :self.n_d]), h[:, self.n_d:]

    def forward(self, x):
        prior = torch.ones_like(x)
        _, a = self.split(x)
        decision, sparsity = 0.0, 0.0
        for block in self.attentive:
            mask = block(prior, a)
            sparsity = sparsity - (mask * (mask + 1e-6).log()).sum(-1).mean()
            prior = prior * (GAMMA - mask)
            d, a = self.split(mask * x)
            decision = decision + d
        return self.final(decision), sparsity / len(self.attentive)


def table(n):
    x = torch.randn(n, 8)
    return x, ((x[:, 2] > 0) ^ (x[:, 5] > 0.3)).long()


def main():
    torch.manual_seed(9)
    x, y = table(120)
    net = TabNet(8)
    opt = torch.optim.Adam(net.parameters(), lr=0.02)
    for epoch in range(3):
        for idx in torch.randperm(len(x)).split(40):
            logits, sparsity = net(x[idx])
            loss = F.cross_entropy(logits, y[idx]) + 1e-3 * sparsity
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, f"{loss.item():.4f}")


main()
