"""Recall task: name the symbol seen at the start of a sequence of distractors.

A GRU cell reads from and writes to an external memory at each step. What is
written is learned through the later reads of the same sequence; the memory is
cleared between sequences.
"""
import torch
from torch import nn
import torch.nn.functional as F

from memory import SlotMemory


class RecallNet(nn.Module):
    def __init__(self, vocab, dim=24, slots=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.memory = SlotMemory(slots, dim)
        self.out = nn.Linear(2 * dim, vocab)
        self.dim = dim

    def forward(self, tokens):
        batch, length = tokens.shape
        self.memory.reset(batch)
        h = torch.zeros(batch, self.dim)
        for t in range(length):
            r = self.memory.read(h)
            h = self.cell(torch.cat([self.embed(tokens[:, t]), r], dim=1), h)
            self.memory.write(t, h)
        r = self.memory.read(h)
        return self.out(torch.cat([h, r], dim=1))


def batch_of_sequences(vocab, batch=32, length=7):
    tokens = torch.randint(1, vocab, (batch, length))
    tokens[:, -1] = 0
    return tokens, tokens[:, 0].clone()


def train(steps=80):
    vocab = 8
    model = RecallNet(vocab)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(steps):
        tokens, target = batch_of_sequences(vocab)
        loss = F.cross_entropy(model(tokens), target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 0 or step == steps - 1:
            print(f"step {step:3d}  loss {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(640)
    train()
