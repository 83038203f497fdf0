"""Keyword spotting on a continuous audio stream, one chunk of frames at a time."""
import argparse
import math

import torch
from torch import nn


def make_stream(n_frames, n_mels, seed):
    gen = torch.Generator().manual_seed(seed)
    labels = torch.zeros(n_frames, dtype=torch.long)
    t = 0
    while t < n_frames:
        length = int(torch.randint(8, 20, (1,), generator=gen))
        labels[t:t + length] = int(torch.randint(0, 3, (1,), generator=gen))
        t += length
    mel = torch.arange(n_mels).float()
    shapes = torch.stack([torch.sin((k + 1) * mel * math.pi / n_mels) for k in range(3)])
    frames = shapes[labels] + 0.5 * torch.randn(n_frames, n_mels, generator=gen)
    return frames, labels


class KeywordSpotter(nn.Module):
    def __init__(self, n_mels, hidden, n_words):
        super().__init__()
        self.norm = nn.LayerNorm(n_mels)
        self.rnn = nn.GRU(n_mels, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_words)

    def forward(self, frames, state):
        y, state = self.rnn(self.norm(frames), state)
        return self.out(y), state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chunk", type=int, default=40)
    parser.add_argument("--frames", type=int, default=480)
    parser.add_argument("--mels", type=int, default=20)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()

    torch.manual_seed(3)
    frames, labels = make_stream(args.frames, args.mels, seed=3)
    model = KeywordSpotter(args.mels, args.hidden, 3)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

    for epoch in range(args.epochs):
        state = torch.zeros(1, 1, args.hidden)
        running, correct = 0.0, 0
        for start in range(0, args.frames, args.chunk):
            chunk = frames[start:start + args.chunk].unsqueeze(0)
            target = labels[start:start + args.chunk]
            logits, state = model(chunk, state)
            loss = criterion(logits.squeeze(0), target)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
            running += loss.item()
            correct += (logits.squeeze(0).argmax(1) == target).sum().item()
        n_chunks = args.frames // args.chunk
        print(f"epoch {epoch}: loss {running / n_chunks:.4f} acc {correct / args.frames:.3f}")


if __name__ == "__main__":
    main()
