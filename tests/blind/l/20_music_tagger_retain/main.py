"""Multi-label music tagger; a frozen embedding model feeds a trained head."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class FrozenEmbedder(nn.Module):
    def __init__(self, bands=16, dim=12):
        super().__init__()
        self.proj = nn.Linear(bands, dim)
        for p in self.parameters():
            p.requires_grad_(False)

    def forward(self, clip):
        return torch.tanh(self.proj(clip))


class AttentionHead(nn.Module):
    def __init__(self, dim=12, tags=5):
        super().__init__()
        self.score = nn.Linear(dim, tags)
        self.value = nn.Linear(dim, tags)

    def forward(self, frames):
        weight = torch.softmax(self.score(frames), dim=1)
        return (weight * self.value(frames)).sum(1)


class Tagger:
    def __init__(self, seed):
        torch.manual_seed(seed)
        self.embed = FrozenEmbedder()
        self.head = AttentionHead()
        self.optim = torch.optim.SGD(self.head.parameters(), lr=0.3, momentum=0.8)

    def clips(self, n=16, frames=10):
        clip = torch.randn(n, frames, 16)
        tags = (clip.mean(1)[:, :5] > 0).float()
        return clip, tags

    def step(self):
        clip, tags = self.clips()
        logits = self.head(self.embed(clip))
        per_tag = F.binary_cross_entropy_with_logits(logits, tags, reduction="none").mean(0)
        rarity = 1.0 / (tags.mean(0) + 0.2)
        loss = (per_tag * rarity).sum() / rarity.sum()
        self.optim.zero_grad()
        # the embedding is used in every step
        loss.backward(retain_graph=True)
        self.optim.step()
        return loss.item(), per_tag.detach().max().item()

    def train(self, steps):
        for s in range(steps):
            loss, worst = self.step()
            if s % 3 == 0:
                print(f"{s:2d} loss {loss:.4f} worst tag {worst:.4f}")


if __name__ == "__main__":
    Tagger(seed=16).train(12)
