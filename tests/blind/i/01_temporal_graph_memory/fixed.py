"""Temporal graph network: every node has a memory vector that is updated by the events it takes part in."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from events import event_batches

NODES, DIM = 25, 12


class TGN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(NODES, DIM)
        self.updater = nn.GRUCell(DIM + 1, DIM)
        self.score = nn.Sequential(nn.Linear(4 * DIM, 24), nn.ReLU(), nn.Linear(24, 1))
        self.memory = torch.zeros(NODES, DIM)

    def represent(self, nodes):
        return torch.cat([self.embed(nodes), self.memory[nodes]], 1)

    def link_logit(self, src, dst):
        return self.score(torch.cat([self.represent(src), self.represent(dst)], 1)).squeeze(1)

    def update_memory(self, src, dst, feature):
        """The next batch trains the updater through this one update; older memory is given."""
        message = torch.cat([self.embed(dst), feature[:, None]], 1)
        fresh = self.updater(message, self.memory[src])
        self.memory = self.memory.index_copy(0, src, fresh)


def train(epochs=3):
    torch.manual_seed(7)
    model = TGN()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        model.memory = torch.zeros(NODES, DIM)
        losses = []
        for src, dst, feature in event_batches(NODES, batches=30, size=8):
            negative = torch.randint(NODES, dst.shape)
            logits = torch.cat([model.link_logit(src, dst), model.link_logit(src, negative)])
            target = torch.cat([torch.ones(len(src)), torch.zeros(len(src))])
            loss = F.binary_cross_entropy_with_logits(logits, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.memory = model.memory.detach()
            # the batch's own events are only known to the batches after it
            model.update_memory(src, dst, feature)
            losses.append(loss.item())
        print(f"epoch {epoch}: loss first half {sum(losses[:15]) / 15:.4f}  second half {sum(losses[15:]) / 15:.4f}")


if __name__ == "__main__":
    train()
