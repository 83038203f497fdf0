"""Classify rate-coded patterns with a small spiking network."""
import torch
import torch.nn as nn

from neurons import LIF, reset_states

STEPS = 12


def make_patterns(count, features=20, classes=4):
    rates = torch.rand(classes, features).pow(2)
    labels = torch.randint(0, classes, (count,))
    return rates[labels], labels


def encode(rates):
    """Poisson spike trains, time first."""
    return (torch.rand(STEPS, *rates.shape) < rates).float()


def build(features=20, hidden=40, classes=4):
    return nn.Sequential(nn.Linear(features, hidden), LIF(), nn.Linear(hidden, classes), LIF(beta=0.95))


def spike_counts(net, train):
    return sum(net(step) for step in train)


def accuracy(net, rates, labels):
    net.eval()
    with torch.no_grad():
        reset_states(net)
        counts = spike_counts(net, encode(rates))
    return (counts.argmax(1) == labels).float().mean().item()


def train_epoch(net, optimizer, loss_fn, rates, labels, batch_size=40):
    net.train()
    total = 0.0
    for index in torch.randperm(len(labels)).split(batch_size):
        counts = spike_counts(net, encode(rates[index]))
        loss = loss_fn(counts, labels[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(index)
    return total / len(labels)


def main():
    torch.manual_seed(1234)
    rates, labels = make_patterns(240)
    net = build()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3, betas=(0.9, 0.999))
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(5):
        loss = train_epoch(net, optimizer, loss_fn, rates[:200], labels[:200])
        print(f"epoch {epoch + 1}: loss {loss:.4f}, held-out accuracy {accuracy(net, rates[200:], labels[200:]):.2f}")


if __name__ == "__main__":
    main()
