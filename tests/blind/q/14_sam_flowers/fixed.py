"""Flower species from petal measurements, trained with SAM.

Each update needs two passes over the batch: the first one finds the worst-case
neighbour of the weights, the second one gives the gradient that is applied to
the original weights.
"""
import torch
import torch.nn as nn

from sam import SAM


def make_flowers(n=300, species=3):
    y = torch.randint(0, species, (n,))
    centres = torch.tensor([[1.0, 0.2, 0.5, 0.1], [0.4, 1.1, 0.3, 0.6], [0.2, 0.3, 1.2, 0.9]])
    return centres[y] + 0.35 * torch.randn(n, 4), y


def train(model, x, y, epochs=4, batch_size=50):
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = SAM(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), rho=0.05)
    for epoch in range(epochs):
        for idx in torch.randperm(len(x)).split(batch_size):
            inputs, labels = x[idx], y[idx]

            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            optimizer.ascend()

            sharp_loss = criterion(model(inputs), labels)
            sharp_loss.backward()
            optimizer.step()
        gap = sharp_loss.item() - loss.item()
        print(f"epoch {epoch}: loss {loss.item():.4f}  sharpness {gap:.4f}")


if __name__ == "__main__":
    torch.manual_seed(140)
    x, y = make_flowers()
    net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
    train(net, x, y)
