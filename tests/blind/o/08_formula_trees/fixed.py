"""Recursive network which reads arithmetic formula trees and predicts their value at x=0.7.

Formulas of one minibatch share a lot of subtrees, so the encoder memoises: every distinct
subtree is encoded once per minibatch (with the present weights) and its gradient comes from
all the formulas that contain it.
"""
import torch
from torch import nn
from trees import dataset

DIM = 16
LEAVES = {"x": 0, "1": 1}
OPS = "+-*"


class TreeEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf = nn.Embedding(len(LEAVES), DIM)
        self.compose = nn.ModuleDict({str(i): nn.Linear(2 * DIM, DIM) for i in range(len(OPS))})
        self.memo = {}
        self.hits = 0

    def encode(self, tree):
        if tree in self.memo:
            self.hits += 1
            return self.memo[tree]
        if len(tree) == 1:
            h = self.leaf(torch.tensor(LEAVES[tree[0]]))
        else:
            pair = torch.cat([self.encode(tree[1]), self.encode(tree[2])])
            h = torch.tanh(self.compose[str(OPS.index(tree[0]))](pair))
        self.memo[tree] = h
        return h


class ValueNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = TreeEncoder()
        self.head = nn.Sequential(nn.Linear(DIM, DIM), nn.ReLU(), nn.Linear(DIM, 1))

    def forward(self, trees):
        h = torch.stack([self.encoder.encode(t) for t in trees])
        return self.head(h).squeeze(-1)


def batches(data, size):
    for i in range(0, len(data), size):
        trees, values = zip(*data[i:i + size])
        yield trees, torch.tensor(values)


def main():
    torch.manual_seed(6)
    data = dataset(96, depth=4, seed=6)
    net = ValueNet()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(3):
        total = 0.0
        for trees, values in batches(data, 16):
            net.encoder.memo.clear()
            pred = net(trees)
            loss = nn.functional.smooth_l1_loss(pred, values)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(trees)
        print(f"epoch {epoch}  loss {total / len(data):.4f}  memo hits {net.encoder.hits}")


if __name__ == "__main__":
    main()
