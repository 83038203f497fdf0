"""Skip-gram with special tokens: their vectors live in a table of their own."""
import torch
from torch import nn
from torch.nn import functional as F

SPECIAL, WORDS, WIDTH = 3, 17, 8


class Vectors(nn.Module):
    def __init__(self):
        super().__init__()
        self.special = nn.Embedding(SPECIAL, WIDTH)
        self.words = nn.Embedding(WORDS, WIDTH)
        self.out = nn.Linear(WIDTH, SPECIAL + WORDS)

    def table(self):
        return torch.cat([self.special.weight, self.words.weight], dim=0)


def pairs(steps, batch=16):
    for _ in range(steps):
        centre = torch.randint(0, SPECIAL + WORDS, (batch,))
        yield centre, (centre + torch.randint(1, 3, (batch,))) % (SPECIAL + WORDS)


def train(model, steps=40):
    opt = torch.optim.Adagrad(model.parameters(), lr=0.3)
    log = []
    for centre, context in pairs(steps):
        table = model.table()
        logits = model.out(table[centre])
        loss = F.cross_entropy(logits, context)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
    return log


def main():
    torch.manual_seed(11)
    log = train(Vectors())
    for start in range(0, len(log), 10):
        print(f"steps {start}-{start + 9}: loss {sum(log[start:start + 10]) / 10:.4f}")


if __name__ == "__main__":
    main()
