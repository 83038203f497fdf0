"""Phone labelling: long utterances are fed in chunks, but learned as a whole."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(12)

PHONES, CHUNK = 5, 8


def utterance(frames):
    """Frames of 7 features; a frame's phone depends on the running sum of the first one."""
    x = torch.randn(1, frames, 7)
    phone = (x[0, :, 0].cumsum(0).abs()).long().clamp(max=PHONES - 1)
    return x, phone


class Recogniser(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.lstm = nn.LSTM(7, width, batch_first=True)
        self.phones = nn.Linear(width, PHONES)

    def forward(self, chunk, memory):
        seen, memory = self.lstm(chunk, memory)
        return self.phones(seen).squeeze(0), memory


net = Recogniser()
opt = torch.optim.Adam(net.parameters(), lr=0.01)

for number in range(16):
    x, phone = utterance(int(torch.randint(3, 6, (1,))) * CHUNK)
    memory = None
    running = 0.0
    for begin in range(0, x.shape[1], CHUNK):
        logits, memory = net(x[:, begin : begin + CHUNK], memory)
        running = running + F.cross_entropy(logits, phone[begin : begin + CHUNK], reduction="sum")
    opt.zero_grad()
    (running / x.shape[1]).backward()
    opt.step()
    if number % 5 == 0:
        print(number, f"{running.item() / x.shape[1]:.3f} per frame, |cell| {memory[1].norm().item():.2f}")
