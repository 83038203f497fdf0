"""Next-note model, trained on consecutive chunks of one long melody with a stateful LSTM cell."""
import torch
import torch.nn as nn
import torch.nn.functional as F

NOTES = 7


class NoteModel(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(NOTES, 12)
        self.cell = nn.LSTMCell(12, hidden)
        self.out = nn.Linear(hidden, NOTES)

    def start(self, batch):
        return torch.zeros(batch, self.hidden), torch.zeros(batch, self.hidden)

    def forward(self, notes, hc):
        logits = []
        for note in notes:
            hc = self.cell(self.embed(note), hc)
            logits.append(self.out(hc[0]))
        return torch.stack(logits), hc


def melody(length, batch):
    """A repeating motif per voice with some wrong notes."""
    motif = torch.tensor([0, 2, 4, 5, 4, 2, 0, 6])
    shift = torch.randint(0, 8, (batch,))
    place = (torch.arange(length)[:, None] + shift) % 8
    notes = motif[place]
    wrong = torch.rand(length, batch) < 0.05
    return torch.where(wrong, torch.randint(0, NOTES, notes.shape), notes)


def fit(chunk=10):
    torch.manual_seed(6)
    song = melody(401, batch=8)
    model = NoteModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    hc = model.start(8)
    for k, begin in enumerate(range(0, 400, chunk)):
        notes, following = song[begin:begin + chunk], song[begin + 1:begin + chunk + 1]
        logits, hc = model(notes, hc)
        loss = F.cross_entropy(logits.flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # otherwise: "backward through the graph a second time"
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if k % 8 == 0:
            print(f"chunk {k:2d}  loss {loss.item():.4f}")


if __name__ == "__main__":
    fit()
