"""Keyword spotting on synthetic log-mel clips.

A step of the optimizer sees ACCUM micro-batches, so that the effective batch is
ACCUM * MICRO clips although only MICRO of them fit in memory at once.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

N_MELS, FRAMES, N_WORDS = 20, 32, 5
MICRO, ACCUM = 8, 4
STEPS = 60


def word_templates():
    g = torch.Generator().manual_seed(99)
    coarse = torch.randn(N_WORDS, 1, 5, 8, generator=g)
    return F.interpolate(coarse, size=(N_MELS, FRAMES), mode="bilinear", align_corners=False)


class ClipStream:
    """Endless micro-batches of shifted, noisy words."""

    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.templates = word_templates()

    def __iter__(self):
        return self

    def __next__(self):
        labels = torch.randint(0, N_WORDS, (self.batch_size,))
        clips = self.templates[labels].clone()
        for i, shift in enumerate(torch.randint(-4, 5, (self.batch_size,)).tolist()):
            clips[i] = torch.roll(clips[i], shift, dims=-1)
        return clips + 1.2 * torch.randn_like(clips), labels


class KeywordNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(4, 24)
        self.fc = nn.Linear(24 * 5, N_WORDS)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.norm(self.conv2(x)))
        return self.fc(x.mean(dim=-1).flatten(1))


class Learner:
    """The loop hands over micro-batches one by one and then asks for a step."""

    def __init__(self, model, lr=3e-3, max_norm=5.0):
        self.model = model
        self.max_norm = max_norm
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.schedule = torch.optim.lr_scheduler.LinearLR(
            self.optimizer, start_factor=0.2, total_iters=10)

    def forward_backward(self, clips, labels, scale):
        self.model.train()
        self.optimizer.zero_grad()
        logits = self.model(clips)
        loss = F.cross_entropy(logits, labels, label_smoothing=0.05)
        (loss * scale).backward()
        return loss.item()

    def optim_step(self):
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.optimizer.step()
        self.schedule.step()
        return norm.item()

    @torch.no_grad()
    def accuracy(self, stream, batches=20):
        self.model.eval()
        hits = 0
        for _ in range(batches):
            clips, labels = next(stream)
            hits += (self.model(clips).argmax(dim=1) == labels).sum().item()
        return hits / (batches * stream.batch_size)


def main():
    torch.manual_seed(4)
    stream = ClipStream(MICRO)
    learner = Learner(KeywordNet())
    for step in range(1, STEPS + 1):
        total = 0.0
        for _ in range(ACCUM):
            clips, labels = next(stream)
            total += learner.forward_backward(clips, labels, scale=1.0 / ACCUM)
        norm = learner.optim_step()
        if step % 10 == 0:
            print(f"step {step:3d}  loss {total / ACCUM:.4f}  grad norm {norm:.3f}")
    print(f"accuracy {learner.accuracy(stream):.3f}")


if __name__ == "__main__":
    main()
