"""Recognise the typist from keystroke timings, session by session.

A GRU cell runs over a session in blocks of 10 keystrokes. The hidden state is
handed from block to block, and each block gets one optimizer step (truncated
BPTT with a window of one block).
"""
import torch
import torch.nn as nn

torch.manual_seed(55)

BLOCK = 10


class TypistNet(nn.Module):
    def __init__(self, hidden=24, typists=4):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.GRUCell(3, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, typists)

    def forward(self, x, h):
        batch, steps, _ = x.shape
        features = x.new_zeros(batch, steps, self.hidden)
        for t in range(steps):
            h = self.cell(x[:, t], h)
            features[:, t] = self.norm(h)
        return self.head(features), h


def make_sessions(n=24, length=50, typists=4):
    who = torch.randint(0, typists, (n,))
    rhythm = torch.tensor([[0.1, 0.5, 0.2], [0.3, 0.2, 0.4], [0.6, 0.1, 0.1], [0.2, 0.3, 0.7]])
    return rhythm[who].unsqueeze(1) + 0.4 * torch.randn(n, length, 3), who


timings, who = make_sessions()
model = TypistNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

smoothed = None
for epoch in range(5):
    h = torch.zeros(len(timings), model.hidden)
    for block in timings.split(BLOCK, dim=1):
        logits, h = model(block, h.detach())
        targets = who.unsqueeze(1).expand(-1, block.shape[1])
        loss = criterion(logits.flatten(0, 1), targets.flatten())

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        value = loss.detach()
        smoothed = value if smoothed is None else 0.9 * smoothed + 0.1 * value
    accuracy = (logits.argmax(-1) == targets).float().mean()
    print(f"epoch {epoch}: loss {smoothed.item():.4f}  acc {accuracy.item():.3f}")
