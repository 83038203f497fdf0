"""Deep mutual learning: two students teach each other."""
import logging
import sys

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(name)s: %(message)s")
log = logging.getLogger("dml")


def student(width, p):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                         nn.Dropout(p), nn.Linear(width, 4))


def distill(own, peer, temperature=2.0):
    return F.kl_div(F.log_softmax(own / temperature, 1), F.softmax(peer / temperature, 1),
                    reduction="batchmean") * temperature ** 2


class Mutual:
    def __init__(self):
        self.a, self.b = student(16, 0.1), student(24, 0.1)
        self.opt_a = torch.optim.SGD(self.a.parameters(), lr=0.05, momentum=0.9)
        self.opt_b = torch.optim.SGD(self.b.parameters(), lr=0.05, momentum=0.9)

    def update(self, x, y):
        out_a, out_b = self.a(x), self.b(x)
        loss_a = F.cross_entropy(out_a, y) + 0.5 * distill(out_a, out_b)
        loss_b = F.cross_entropy(out_b, y) + 0.5 * distill(out_b, out_a)

        self.opt_a.zero_grad()
        loss_a.backward(retain_graph=True)
        self.opt_a.step()

        self.opt_b.zero_grad()
        loss_b.backward()
        self.opt_b.step()
        return loss_a.item(), loss_b.item()


def blobs(n=64):
    centre = 1.2 * torch.randn(4, 8)
    y = torch.randint(0, 4, (n,))
    return TensorDataset(centre[y] + torch.randn(n, 8), y)


def main():
    torch.manual_seed(37)
    loader = DataLoader(blobs(), batch_size=16, shuffle=True)
    pair = Mutual()
    for epoch in range(6):
        rows = [pair.update(x, y) for x, y in loader]
        a, b = (sum(col) / len(rows) for col in zip(*rows))
        log.info("epoch %d: student a %.4f, student b %.4f", epoch, a, b)


if __name__ == "__main__":
    main()
