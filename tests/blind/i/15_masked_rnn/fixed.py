"""A plain recurrent classifier for sequences of different length: finished sequences keep their state."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class MaskedRNN(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.i2h = nn.Linear(inputs, hidden)
        self.h2h = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x, lengths):
        h = x.new_zeros(x.shape[0], self.hidden)
        for t in range(x.shape[1]):
            finished = lengths <= t
            h_next = torch.tanh(self.i2h(x[:, t]) + self.h2h(h))
            h = torch.where(finished[:, None], h, h_next)
        return h


class Classifier(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.rnn = MaskedRNN(inputs, hidden)
        self.linear = nn.Linear(hidden, classes)

    def forward(self, x, lengths):
        return self.linear(self.rnn(x, lengths))


def sequences(n, longest=10):
    """Label: sign of the sum of the first channel over the sequence's own length."""
    lengths = torch.randint(3, longest + 1, (n,))
    x = torch.randn(n, longest, 2)
    valid = torch.arange(longest)[None] < lengths[:, None]
    return x, lengths, ((x[..., 0] * valid).sum(1) > 0).long()


def evaluate(model, data):
    x, lengths, y = data
    with torch.no_grad():
        return (model(x, lengths).argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(66)
    train, test = sequences(256), sequences(200)
    model = Classifier(2, 24, 2)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
    for epoch in range(8):
        epoch_loss = 0.0
        for rows in torch.randperm(256).split(32):
            x, lengths, y = (part[rows] for part in train)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x, lengths), y)
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() / 8
        print(f"epoch {epoch}: loss {epoch_loss:.4f}  test accuracy {evaluate(model, test):.3f}")
