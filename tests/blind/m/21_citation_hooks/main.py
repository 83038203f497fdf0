"""Classify papers of a citation graph; hidden activities are kept sparse by an L1 penalty.

The penalty reads the activities through forward hooks, so that the network
itself needs no change.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)

PAPERS, WORDS, FIELDS = 80, 24, 4
SPARSITY = 2e-3


def citation_graph():
    field = torch.randint(FIELDS, (PAPERS,))
    same = field[:, None] == field[None, :]
    chance = torch.where(same, 0.15, 0.02)
    links = (torch.rand(PAPERS, PAPERS) < chance).float()
    links = ((links + links.T) > 0).float()
    links.fill_diagonal_(1.0)
    scale = links.sum(1).rsqrt()
    words = (torch.rand(PAPERS, WORDS) < 0.15).float()
    words[torch.arange(PAPERS), field] = 1.0
    return scale[:, None] * links * scale[None, :], words, field


class GraphLayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.lin = nn.Linear(inputs, outputs)

    def forward(self, spread, x):
        return spread @ self.lin(x)


class PaperNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.one = GraphLayer(WORDS, width)
        self.two = GraphLayer(width, width)
        self.act1 = nn.ELU()
        self.act2 = nn.ELU()
        self.vote = nn.Linear(width, FIELDS)

    def forward(self, spread, words):
        x = self.act1(self.one(spread, words))
        x = self.act2(self.two(spread, x))
        return self.vote(x)


class Tap:
    """Collects what the given modules put out."""

    def __init__(self, *modules):
        self.seen = []
        self.handles = [m.register_forward_hook(self._keep) for m in modules]

    def _keep(self, module, inputs, output):
        self.seen.append(output)

    def activity(self):
        """Mean absolute activity, summed over the layers."""
        return sum(output.abs().mean() for output in self.seen)

    def close(self):
        for handle in self.handles:
            handle.remove()


def main():
    spread, words, field = citation_graph()
    known = torch.rand(PAPERS) < 0.4
    net = PaperNet()
    tap = Tap(net.act1, net.act2)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02, weight_decay=5e-4)

    for epoch in range(30):
        votes = net(spread, words)
        fit = F.cross_entropy(votes[known], field[known])
        sparse = tap.activity()
        optimizer.zero_grad()
        (fit + SPARSITY * sparse).backward()
        optimizer.step()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: fit {fit.item():.3f}, activity {sparse.item():.3f}")

    tap.close()
    with torch.no_grad():
        hits = (net(spread, words).argmax(1) == field)[~known].float().mean().item()
    print(f"accuracy on the other papers {hits:.2f}")


if __name__ == "__main__":
    main()
