"""Session-based recommender: one recurrent state per user, updated event by event."""
import logging
import sys
from collections import Counter

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
log = logging.getLogger("recsys")


class Events(Dataset):
    """A few users who come back with their next item."""

    def __init__(self, n_users=5, n_items=12, n_events=30):
        g = torch.Generator().manual_seed(40)
        self.user = torch.randint(0, n_users, (n_events,), generator=g)
        taste = torch.randint(0, n_items, (n_users,), generator=g)
        shift = torch.arange(n_events) % 2
        self.item = (taste[self.user] + shift) % n_items
        self.next = (self.item + 1) % n_items
        self.age = torch.rand(n_users, 2, generator=g)

    def __len__(self):
        return len(self.user)

    def __getitem__(self, i):
        u = self.user[i]
        return {"user": u, "item": self.item[i], "profile": self.age[u], "label": self.next[i]}


class UserModel(nn.Module):
    def __init__(self, n_items=12, width=8):
        super().__init__()
        self.items = nn.Embedding(n_items, width)
        self.cold_start = nn.Linear(2, width)
        self.cell = nn.GRUCell(width, width)
        self.score = nn.Linear(width, n_items)
        self.states = {}

    def forward(self, batch):
        rows = []
        for user, item, profile in zip(batch["user"].tolist(), batch["item"], batch["profile"]):
            if user in self.states:
                h = self.states[user]
            else:
                h = torch.tanh(self.cold_start(profile))
            h = self.cell(self.items(item)[None], h[None])[0]
            self.states[user] = h
            rows.append(h)
        self.states = {user: h.detach() for user, h in self.states.items()}
        return self.score(torch.stack(rows))


def main():
    torch.manual_seed(4)
    loader = DataLoader(Events(), batch_size=3)
    model = UserModel()
    opt = torch.optim.Adam(model.parameters(), lr=0.03)
    for epoch in range(3):
        model.states.clear()
        losses, seen = [], Counter()
        for batch in loader:
            loss = nn.functional.cross_entropy(model(batch), batch["label"])
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
            seen.update(batch["user"].tolist())
        log.info("epoch %d: loss %.4f -> %.4f, %d users", epoch, losses[0], losses[-1], len(seen))


if __name__ == "__main__":
    main()
