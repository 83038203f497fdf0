"""A hypernetwork writes the weights of a classifier, one set for each domain."""
import torch
from torch import nn
import torch.nn.functional as F

import domains


class Hyper(nn.Module):
    def __init__(self, count, n_in, n_out):
        super().__init__()
        self.n_in, self.n_out = n_in, n_out
        self.codes = nn.Embedding(count, 4)
        self.write = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, (n_in + 1) * n_out))

    def weights(self, domain):
        flat = self.write(self.codes.weight[domain])
        split = self.n_in * self.n_out
        return flat[:split].view(self.n_out, self.n_in), flat[split:]


def epoch(hyper, optimizer, data):
    """One epoch: all batches of each domain."""
    total, count = 0.0, 0
    for domain in range(data.count):
        for x, y in data.batches(domain):
            weight, bias = hyper.weights(domain)
            prediction = F.linear(x, weight, bias)
            loss = F.cross_entropy(prediction, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, count = total + loss.item(), count + 1
    return total / count


def accuracy(hyper, data):
    hits = 0
    with torch.no_grad():
        for domain in range(data.count):
            weight, bias = hyper.weights(domain)
            for x, y in data.batches(domain):
                hits += (F.linear(x, weight, bias).argmax(1) == y).sum().item()
    return hits / data.size


if __name__ == "__main__":
    torch.manual_seed(5)
    data = domains.Domains(count=3, seed=55)
    hyper = Hyper(3, 4, 3)
    optimizer = torch.optim.Adam(hyper.parameters(), lr=0.02)
    for number in range(3):
        print(number, round(epoch(hyper, optimizer, data), 4), accuracy(hyper, data))
