"""A controller with an external memory copies symbols of an endless stream."""
import torch
from torch import nn
import torch.nn.functional as F

SYMBOLS, SLOTS, WIDTH = 6, 5, 8


class Controller(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(SYMBOLS + WIDTH, 16)
        self.key = nn.Linear(16, WIDTH)
        self.erase = nn.Linear(16, WIDTH)
        self.add = nn.Linear(16, WIDTH)
        self.out = nn.Linear(16 + WIDTH, SYMBOLS)

    def blank(self, batch):
        zeros = torch.zeros(batch, 16)
        return (zeros, zeros), (torch.full((batch, SLOTS, WIDTH), 0.01), torch.zeros(batch, WIDTH))

    def forward(self, symbol, state):
        (h, c), (memory, read) = state
        h, c = self.cell(torch.cat([F.one_hot(symbol, SYMBOLS).float(), read], 1), (h, c))
        address = F.softmax(F.cosine_similarity(self.key(h).unsqueeze(1), memory, dim=2) * 3, dim=1).unsqueeze(2)
        erase = torch.sigmoid(self.erase(h)).unsqueeze(1)
        memory = memory * (1 - address * erase) + address * torch.tanh(self.add(h)).unsqueeze(1)
        read = (address * memory).sum(1)
        return self.out(torch.cat([h, read], 1)), ((h, c), (memory, read))


def stream(batch, seed):
    random = torch.Generator().manual_seed(seed)
    history = [torch.randint(SYMBOLS, (batch,), generator=random) for _ in range(3)]
    while True:
        symbol = torch.randint(SYMBOLS, (batch,), generator=random)
        history.append(symbol)
        yield symbol, history.pop(0)


def run(windows, window_length, batch=4):
    torch.manual_seed(2)
    controller = Controller()
    adam = torch.optim.Adam(controller.parameters(), lr=0.01)
    source = stream(batch, 22)
    state = controller.blank(batch)
    losses = []
    for _ in range(windows):
        total = torch.zeros(())
        for _ in range(window_length):
            symbol, wanted = next(source)
            answer, state = controller(symbol, state)
            total = total + F.cross_entropy(answer, wanted)
        adam.zero_grad()
        (total / window_length).backward()
        adam.step()
        losses.append(total.item() / window_length)
    return losses


if __name__ == "__main__":
    result = run(windows=14, window_length=5)
    print("first", round(result[0], 3), "last", round(result[-1], 3))
