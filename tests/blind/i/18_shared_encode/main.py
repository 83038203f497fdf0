"""Speaker embeddings with a triplet loss. encode() is also what the enrolment service calls."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpeakerEncoder(nn.Module):
    def __init__(self, bands=12, dim=8):
        super().__init__()
        self.frames = nn.Sequential(nn.Conv1d(bands, 24, 3, padding=1), nn.ReLU(), nn.Conv1d(24, 24, 3, padding=1), nn.ReLU())
        self.embed = nn.Linear(24, dim)

    def forward(self, utterance):
        return F.normalize(self.embed(self.frames(utterance).mean(-1)), dim=1)

    @torch.no_grad()
    def encode(self, utterance):
        """Embedding of one utterance or of a batch."""
        if utterance.dim() == 2:
            utterance = utterance[None]
        return self(utterance)


class Voices:
    def __init__(self, speakers=8, bands=12):
        self.timbre = torch.randn(speakers, bands, 1)

    def record(self, who, frames=20):
        return self.timbre[who] + 3.0 * torch.randn(len(who), self.timbre.shape[1], frames)

    def triplets(self, n):
        anchor = torch.randint(len(self.timbre), (n,))
        other = (anchor + torch.randint(1, len(self.timbre), (n,))) % len(self.timbre)
        return self.record(anchor), self.record(anchor), self.record(other)


def identification_rate(model, voices):
    who = torch.arange(len(voices.timbre))
    enrolled = model.encode(voices.record(who))
    test = model.encode(voices.record(who.repeat(10)))
    return ((test @ enrolled.T).argmax(1) == who.repeat(10)).float().mean().item()


def train(steps=60):
    torch.manual_seed(93)
    voices, model = Voices(), SpeakerEncoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.TripletMarginLoss(margin=0.5)
    for step in range(steps):
        anchor, positive, negative = (model.encode(u) for u in voices.triplets(32))
        loss = criterion(anchor, positive, negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 14:
            print(f"step {step}: loss {loss.item():.4f}  identified {identification_rate(model, voices):.3f}")


if __name__ == "__main__":
    train()
