"""Translate digit strings into their reverse, with attention."""
import random

import torch
from torch import nn

START, VOCABULARY = 10, 11


class Encoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, size)
        self.gru = nn.GRU(size, size, batch_first=True)

    def forward(self, source):
        return self.gru(self.embed(source))


class AttentionDecoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, size)
        self.cell = nn.GRUCell(2 * size, size)
        self.out = nn.Linear(size, VOCABULARY)

    def forward(self, token, hidden, memory):
        weight = torch.softmax(torch.einsum("bh,bth->bt", hidden, memory), dim=1)
        context = torch.einsum("bt,bth->bh", weight, memory)
        hidden = self.cell(torch.cat([self.embed(token), context], 1), hidden)
        return self.out(hidden), hidden


def train_pair(source, target, encoder, decoder, optimizer, criterion):
    optimizer.zero_grad()
    memory, hidden = encoder(source)
    hidden = hidden.squeeze(0)
    token = torch.full((len(source),), START)
    seen, total = 0.0, 0.0
    for position in range(target.shape[1]):
        output, hidden = decoder(token, hidden, memory)
        loss = criterion(output, target[:, position])
        total = total + loss
        seen += loss.item()
        token = target[:, position] if random.random() < 0.5 else output.argmax(1)
    total.backward()
    optimizer.step()
    return seen / target.shape[1]


def main():
    random.seed(14)
    torch.manual_seed(14)
    encoder, decoder = Encoder(12), AttentionDecoder(12)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for step in range(8):
        source = torch.randint(10, (4, 5))
        value = train_pair(source, source.flip(1), encoder, decoder, optimizer, criterion)
        if step % 4 == 3:
            print(f"{step + 1}: {value:.4f}")


if __name__ == "__main__":
    main()
