"""Node classification on a small citation-like graph."""
import torch
import torch.nn.functional as F
from torch import nn

from layers import PropagateLinear, normalized_adjacency


class SGC(nn.Module):
    def __init__(self, n_in, n_hidden, n_out, adj):
        super().__init__()
        self.conv = PropagateLinear(n_in, n_hidden, adj, hops=2, cached=True)
        self.norm = nn.LayerNorm(n_hidden)
        self.classifier = nn.Linear(n_hidden, n_out)

    def forward(self, x):
        x = self.norm(self.conv(x))
        return F.log_softmax(self.classifier(F.relu(x)), dim=-1)


def planted_graph(n, classes):
    labels = torch.arange(n) % classes
    same = labels[:, None] == labels[None, :]
    edges = torch.rand(n, n) < torch.where(same, 0.3, 0.03)
    edges = (edges | edges.t()).float()
    features = F.one_hot(labels, classes).float() + 0.8 * torch.randn(n, classes)
    return edges, torch.cat([features, torch.randn(n, 4)], dim=1), labels


def accuracy(model, x, labels, mask):
    model.eval()
    with torch.no_grad():
        pred = model(x).argmax(dim=-1)
    return (pred[mask] == labels[mask]).float().mean().item()


def main():
    torch.manual_seed(42)
    edges, x, labels = planted_graph(45, 3)
    train_mask = torch.zeros(45, dtype=torch.bool)
    train_mask[:15] = True
    model = SGC(x.shape[1], 8, 3, normalized_adjacency(edges))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for epoch in range(1, 21):
        model.train()
        optimizer.zero_grad()
        out = model(x)
        loss = F.nll_loss(out[train_mask], labels[train_mask])
        loss.backward()
        optimizer.step()
        if epoch % 5 == 0:
            print(f"Epoch {epoch:02d} loss {loss.item():.4f} test {accuracy(model, x, labels, ~train_mask):.3f}")


if __name__ == "__main__":
    main()
