"""Few-shot prompt tuning: only the context vectors are learned."""
from dataclasses import dataclass
from typing import List

import torch
import torch.nn.functional as F

from backbone import TinyCLIP
from prompt_fixed import PromptedCLIP


@dataclass
class Split:
    classnames: List[str]
    shots: int


BASE = Split(["small cat", "wild dog", "fish", "red bird"], shots=6)
NEW = Split(["old horse", "snake"], shots=4)


class FewShot:
    def __init__(self, split):
        self.split = split
        n = len(split.classnames)
        self.patterns = torch.randn(n, 3, 8, 8)
        self.labels = torch.arange(n).repeat_interleave(split.shots)
        self.images = self.patterns[self.labels] + 0.3 * torch.randn(len(self.labels), 3, 8, 8)

    def batches(self, size):
        for idx in torch.randperm(len(self.labels)).split(size):
            yield self.images[idx], self.labels[idx]


class Callback:
    def on_batch(self, loss):
        pass

    def on_epoch(self, epoch, model):
        pass


class LossPrinter(Callback):
    def __init__(self):
        self.values = []

    def on_batch(self, loss):
        self.values.append(loss)

    def on_epoch(self, epoch, model):
        norm = model.prompt.ctx.detach().norm().item()
        print(f"epoch {epoch} loss {sum(self.values) / len(self.values):.4f} |ctx| {norm:.4f}")
        self.values.clear()


class PromptTrainer:
    def __init__(self, model, data, callbacks=(), lr=0.5):
        self.model = model
        self.data = data
        self.callbacks = list(callbacks)
        self.optimizer = torch.optim.SGD([model.prompt.ctx], lr=lr, momentum=0.9)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=6)

    def _emit(self, event, *args):
        for cb in self.callbacks:
            getattr(cb, event)(*args)

    def fit(self, epochs):
        names = self.data.split.classnames
        for epoch in range(epochs):
            self.model.train()
            for images, labels in self.data.batches(8):
                loss = F.cross_entropy(self.model(images, names), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self._emit("on_batch", loss.item())
            self.schedule.step()
            self._emit("on_epoch", epoch, self.model)


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    hits = total = 0
    for images, labels in data.batches(8):
        hits += (model(images, data.split.classnames).argmax(1) == labels).sum().item()
        total += len(labels)
    return hits / total


def main():
    torch.manual_seed(47)
    base, new = FewShot(BASE), FewShot(NEW)
    model = PromptedCLIP(TinyCLIP())
    PromptTrainer(model, base, [LossPrinter()]).fit(epochs=6)
    print("base", round(evaluate(model, base), 3), "new", round(evaluate(model, new), 3))


if __name__ == "__main__":
    main()
