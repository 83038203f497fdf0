"""Audio-caption retrieval trained with a contrastive objective."""
import argparse

import torch

from objective_fixed import ContrastiveLoss
from towers import AudioText


class Clips:
    """Synthetic clips: a sound class gives a spectrum and a set of words."""

    def __init__(self, classes=8, bins=20, vocab=30):
        self.spectra = torch.randn(classes, bins)
        self.words = torch.randint(0, vocab, (classes, 5))
        self.classes = classes

    def batch(self):
        order = torch.randperm(self.classes)
        frames = self.spectra[order][:, :, None].repeat(1, 1, 7)
        frames = frames + 0.4 * torch.randn_like(frames)
        return frames, self.words[order]


def split_decay(modules, weight_decay):
    """Matrices decay; biases, gains and the temperature do not."""
    decay, plain = [], []
    for module in modules:
        for p in module.parameters():
            (decay if p.ndim >= 2 else plain).append(p)
    return [{"params": decay, "weight_decay": weight_decay},
            {"params": plain, "weight_decay": 0.0}]


class Trainer:
    def __init__(self, args):
        torch.manual_seed(args.seed)
        self.args = args
        self.clips = Clips()
        self.model = AudioText()
        self.criterion = ContrastiveLoss()
        self.optimizer = torch.optim.AdamW(
            split_decay([self.model, self.criterion], args.weight_decay), lr=args.lr)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda s: min(1.0, (s + 1) / args.warmup))
        self.history = []

    def step(self):
        audio, text = self.model(*self.clips.batch())
        loss, stats = self.criterion(audio, text)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.history.append({"loss": loss.item(), **stats})

    def report(self, i):
        row = self.history[i]
        print(f"step {i:2d} " + " ".join(f"{k} {v:.4f}" for k, v in row.items()))

    def fit(self):
        for i in range(self.args.steps):
            self.step()
            if i % self.args.every == 0:
                self.report(i)


@torch.no_grad()
def recall(model, clips, k):
    audio, text = model(*clips.batch())
    ranks = (audio @ text.t()).topk(k, dim=1).indices
    return (ranks == torch.arange(len(audio))[:, None]).any(1).float().mean().item()


def parse(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--warmup", type=int, default=5)
    p.add_argument("--every", type=int, default=10)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--weight-decay", dest="weight_decay", type=float, default=0.01)
    p.add_argument("--seed", type=int, default=71)
    return p.parse_args(argv)


if __name__ == "__main__":
    trainer = Trainer(parse([]))
    trainer.fit()
    print("recall@1", recall(trainer.model, trainer.clips, 1), "recall@3", recall(trainer.model, trainer.clips, 3))
