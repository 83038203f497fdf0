"""Word vectors built of character vectors; the word table is composed at start."""
import torch
from torch import nn

LETTERS = "abcdefgh"
WORDS = ("abba", "bead", "cafe", "dead", "edge", "face", "hedge", "badge", "gaff", "bed")


class Composer(nn.Module):
    """A word's vector is the mean of its letters' vectors plus one of its own."""

    def __init__(self, size):
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), size)
        self.own = nn.Parameter(torch.zeros(len(WORDS), size))
        rows = torch.zeros(len(WORDS), len(LETTERS))
        for number, word in enumerate(WORDS):
            for letter in word:
                rows[number, LETTERS.index(letter)] += 1 / len(word)
        self.register_buffer("rows", rows)

    def table(self):
        return self.rows @ self.letters.weight + self.own


class NextWord(nn.Module):
    def __init__(self, size=6):
        super().__init__()
        self.composer = Composer(size)
        self.vectors = self.composer.table()
        self.bias = nn.Parameter(torch.zeros(len(WORDS)))

    def forward(self, word):
        here = self.vectors[word]
        return here @ self.composer.own.t() + self.bias


def corpus(count):
    random = torch.Generator().manual_seed(220)
    for _ in range(count):
        word = torch.randint(len(WORDS), (8,), generator=random)
        yield word, (word * 3 + 1) % len(WORDS)


def main():
    torch.manual_seed(22)
    model = NextWord()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for step, (word, following) in enumerate(corpus(10), start=1):
        loss = nn.functional.cross_entropy(model(word), following)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        if step % 5 == 0:
            print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
