"""Next-item recommendation with factorised transitions (BPR)."""
import torch
from torch import nn


class FPMC(nn.Module):
    """A user's taste plus the transition from the last item."""

    def __init__(self, users, items, width):
        super().__init__()
        self.user = nn.Embedding(users, width)
        self.item_for_user = nn.Embedding(items, width)
        self.last = nn.Embedding(items, width)
        self.item_for_last = nn.Embedding(items, width)
        for table in self.children():
            nn.init.normal_(table.weight, std=0.1)

    def score(self, user, last, item):
        taste = (self.user(user) * self.item_for_user(item)).sum(-1)
        follow = (self.last(last) * self.item_for_last(item)).sum(-1)
        return taste + follow


def sessions(users, items, length, generator):
    """Users like items of one parity and tend to go on to the next item but one."""
    triples = []
    for user in range(users):
        item = int(torch.randint(items, (), generator=generator))
        for _ in range(length):
            jump = 2 if torch.rand((), generator=generator) < 0.7 else int(torch.randint(items, (), generator=generator))
            following = (item + jump) % items
            triples.append((user, item, following))
            item = following
    return torch.tensor(triples)


def train_epoch(model, optimizer, triples, items):
    total = 0.0
    for batch in triples[torch.randperm(len(triples))].split(128):
        user, last, positive = batch.unbind(1)
        negative = torch.randint(items, positive.shape)
        optimizer.zero_grad
        margin = model.score(user, last, positive) - model.score(user, last, negative)
        loss = -nn.functional.logsigmoid(margin).mean()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(triples)


def main():
    torch.manual_seed(10)
    users, items = 40, 30
    triples = sessions(users, items, 24, torch.Generator().manual_seed(6))
    model = FPMC(users, items, 8)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.15)
    for epoch in range(8):
        print(f"epoch {epoch}: bpr loss {train_epoch(model, optimizer, triples, items):.4f}")


if __name__ == "__main__":
    main()
