"""Spiking classifier for rate-coded patterns.

Every batch is an independent set of stimuli, shown for 20 time steps to a network
that starts at rest; the class is the output neuron that spikes most.
"""
import torch
import torch.nn.functional as F

from layers import SpikingNet

torch.manual_seed(8)

N_IN, N_CLASSES, STEPS, BATCH = 30, 4, 20, 32
prototypes = torch.rand(N_CLASSES, N_IN) ** 2


def poisson_batches(n_batches):
    """Yield (spike trains [T, B, N_IN], labels [B])."""
    for _ in range(n_batches):
        labels = torch.randint(0, N_CLASSES, (BATCH,))
        rates = prototypes[labels] * 0.6
        yield torch.bernoulli(rates.expand(STEPS, BATCH, N_IN)), labels


def train(net, optimizer, n_batches):
    net.train()
    running = 0.0
    for spikes, labels in poisson_batches(n_batches):
        counts = net(spikes)
        loss = F.cross_entropy(counts, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running / n_batches


@torch.no_grad()
def evaluate(net, n_batches=5):
    net.eval()
    correct = 0
    for spikes, labels in poisson_batches(n_batches):
        net.reset()
        correct += (net(spikes).argmax(1) == labels).sum().item()
    return correct / (n_batches * BATCH)


def main():
    net = SpikingNet(N_IN, 48, N_CLASSES)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(4):
        loss = train(net, optimizer, n_batches=15)
        acc = evaluate(net)
        print(f"epoch {epoch}  loss {loss:.3f}  accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
