"""Fixed: the state goes from chunk to chunk as plain numbers.

An LSTM's state is a pair, and both halves carry the history: detaching only one of them changes nothing. The model
still starts each chunk from what it remembers; gradients stop at the chunk's beginning (truncated back-propagation
through time).
"""

import torch
from torch import Tensor, nn

State = tuple[Tensor, Tensor]


class LanguageModel(nn.Module):
    """Predicts the next symbol of a text."""

    def __init__(self, symbols: int, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(symbols, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, symbols)

    def forward(self, text: Tensor, state: State | None) -> tuple[Tensor, State]:
        """Scores for what follows each symbol, and the state after the last one."""
        output, state = self.lstm(self.embedding(text), state)
        return self.head(output), state


def write_texts(count: int, length: int, symbols: int) -> Tensor:
    """Texts in which each symbol nearly always decides the next."""
    follower = torch.randperm(symbols)
    columns = [torch.randint(symbols, (count,))]
    for _ in range(length - 1):
        typo = torch.rand(count) < 0.05
        columns.append(torch.where(typo, torch.randint(symbols, (count,)), follower[columns[-1]]))
    return torch.stack(columns, dim=1)


def train(chunks: int, chunk: int = 16, symbols: int = 12) -> None:
    """Chunk after chunk, from the beginning of all texts to their end."""
    torch.manual_seed(0)
    texts = write_texts(count=8, length=chunks * chunk + 1, symbols=symbols)
    model = LanguageModel(symbols)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    state: State | None = None
    for number in range(chunks):
        begin = number * chunk
        inputs, targets = texts[:, begin : begin + chunk], texts[:, begin + 1 : begin + chunk + 1]
        logits, state = model(inputs, state)
        loss = criterion(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        state = (state[0].detach(), state[1].detach())
        optimizer.step()
        if number % 10 == 0:
            print(f"chunk {number + 1}: loss {loss.item():.4f}")


if __name__ == "__main__":
    train(chunks=51)
