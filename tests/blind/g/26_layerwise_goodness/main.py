"""Forward-forward training: each layer learns by itself to tell right labels from wrong ones."""
import torch
from torch import nn
from torch.nn import functional as F


class LocalLayer(nn.Module):
    def __init__(self, inputs, outputs, lr=0.01, threshold=1.0):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=lr)
        self.threshold = threshold

    def forward(self, x):
        direction = x / (x.pow(2).mean(1, keepdim=True).sqrt() + 1e-4)
        return torch.relu(self.linear(direction))

    def learn(self, positive, negative):
        """One update of this layer; what it hands on carries no graph."""
        good, bad = self(positive), self(negative)
        goodness = torch.cat([-good.pow(2).mean(1) + self.threshold, bad.pow(2).mean(1) - self.threshold])
        loss = F.softplus(goodness).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return self(positive).detach(), self(negative).detach(), loss.item()


class Stack(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(LocalLayer(a, b) for a, b in zip(sizes, sizes[1:]))

    def learn(self, positive, negative):
        losses = []
        for layer in self.layers:
            positive, negative, loss = layer.learn(positive, negative)
            losses.append(loss)
        return losses

    @torch.no_grad()
    def predict(self, x, classes):
        scores = []
        for label in range(classes):
            h = embed(x, torch.full((len(x),), label), classes)
            score = torch.zeros(len(x))
            for layer in self.layers:
                h = layer(h)
                score += h.pow(2).mean(1)
            scores.append(score)
        return torch.stack(scores, 1).argmax(1)


def embed(x, label, classes):
    return torch.cat([x, 3.0 * F.one_hot(label, classes)], dim=1)


torch.manual_seed(75)
label = torch.randint(4, (600,))
x = 1.5 * torch.randn(4, 8)[label] + 0.7 * torch.randn(600, 8)
net = Stack([12, 64, 64])
for epoch in range(5):
    for rows in torch.randperm(600).split(100):
        wrong = (label[rows] + torch.randint(1, 4, (len(rows),))) % 4
        losses = net.learn(embed(x[rows], label[rows], 4), embed(x[rows], wrong, 4))
    accuracy = (net.predict(x, 4) == label).float().mean().item()
    print(f"epoch {epoch}: losses of the layers {[round(v, 4) for v in losses]} accuracy {accuracy:.3f}")
