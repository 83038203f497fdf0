"""Align two encoders with a symmetric contrastive loss."""
import torch
from torch import nn
from torch.nn import functional as F


class Pairs(torch.utils.data.Dataset):
    """An 'image' vector and a 'caption' of six tokens, both from the same hidden concept."""

    def __init__(self, count, concepts=24):
        generator = torch.Generator().manual_seed(4)
        self.concept = torch.randint(concepts, (count,), generator=generator)
        look = torch.randn(concepts, 32, generator=generator)
        words = torch.randint(50, (concepts, 6), generator=generator)
        self.images = look[self.concept] + 0.5 * torch.randn(count, 32, generator=generator)
        noise = torch.rand(count, 6, generator=generator) < 0.2
        self.captions = torch.where(noise, torch.randint(50, (count, 6), generator=generator), words[self.concept])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.captions[i]


class ImageTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 24))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class TextTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.net = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 24))

    def forward(self, tokens):
        return F.normalize(self.net(self.embed(tokens).mean(1)), dim=-1)


def train_step(batch, towers, optimizer, temperature):
    images, captions = batch
    logits = towers["image"](images) @ towers["text"](captions).T / temperature
    target = torch.arange(len(images))
    losses = {
        "image->text": F.cross_entropy(logits, target),
        "text->image": F.cross_entropy(logits.T, target),
    }
    optimizer.zero_grad()
    for name, loss in losses.items():
        (loss / len(losses)).backward()
    optimizer.step()
    return {name: loss.item() for name, loss in losses.items()}


torch.manual_seed(12)
towers = nn.ModuleDict({"image": ImageTower(), "text": TextTower()})
optimizer = torch.optim.AdamW(towers.parameters(), lr=3e-3)
loader = torch.utils.data.DataLoader(Pairs(480), batch_size=48, shuffle=True, drop_last=True)
for epoch in range(5):
    sums = {}
    for batch in loader:
        for name, value in train_step(batch, towers, optimizer, temperature=0.2).items():
            sums[name] = sums.get(name, 0.0) + value / len(loader)
    print(f"epoch {epoch}", {name: round(value, 4) for name, value in sums.items()})
