"""Joint phone / speaker / emotion recognition from filterbank frames with one shared encoder."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--seed", type=int, default=7)
    return p.parse_args()


TASKS = {
    "phone": dict(classes=12, weight=1.0),
    "speaker": dict(classes=6, weight=0.5),
    "emotion": dict(classes=4, weight=0.3),
}


class SyntheticSpeech(Dataset):
    """Utterances of 20 frames with 16 mel bins; each label leaves its own trace in the frames."""

    def __init__(self, n=192, frames=20, mels=16, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.frames = 0.6 * torch.randn(n, frames, mels, generator=g)
        self.labels = {}
        for name, spec in TASKS.items():
            y = torch.randint(spec["classes"], (n,), generator=g)
            pattern = torch.randn(spec["classes"], mels, generator=g)
            self.frames += 0.8 * pattern[y].unsqueeze(1)
            self.labels[name] = y

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        return self.frames[i], {k: v[i] for k, v in self.labels.items()}


class SpeechEncoder(nn.Module):
    def __init__(self, mels, hidden):
        super().__init__()
        self.conv = nn.Conv1d(mels, hidden, 5, padding=2)
        self.norm = nn.LayerNorm(hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, x):
        h = F.gelu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        out, _ = self.rnn(self.norm(h))
        return out.mean(dim=1)


class Head(nn.Module):
    def __init__(self, hidden, classes):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, classes))

    def forward(self, emb):
        return self.net(emb)


class MultiTaskSystem:
    def __init__(self, args):
        self.encoder = SpeechEncoder(16, args.hidden)
        self.heads = nn.ModuleDict({k: Head(args.hidden, s["classes"]) for k, s in TASKS.items()})
        params = list(self.encoder.parameters()) + list(self.heads.parameters())
        self.optimizer = torch.optim.AdamW(params, lr=args.lr)
        self.criterion = nn.CrossEntropyLoss()

    def train_batch(self, frames, labels):
        self.optimizer.zero_grad()
        emb = self.encoder(frames)
        logs = {}
        total = 0.0
        for name, head in self.heads.items():
            loss = TASKS[name]["weight"] * self.criterion(head(emb), labels[name])
            total = total + loss
            logs[name] = loss.item()
        total.backward()
        nn.utils.clip_grad_norm_(self.encoder.parameters(), 5.0)
        self.optimizer.step()
        return logs


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    loader = DataLoader(SyntheticSpeech(), batch_size=args.batch_size, shuffle=True)
    system = MultiTaskSystem(args)
    for epoch in range(args.epochs):
        sums = {k: 0.0 for k in TASKS}
        for frames, labels in loader:
            for k, v in system.train_batch(frames, labels).items():
                sums[k] += v
        text = "  ".join(f"{k} {v / len(loader):.4f}" for k, v in sums.items())
        print(f"epoch {epoch + 1}: {text}")


if __name__ == "__main__":
    main()
