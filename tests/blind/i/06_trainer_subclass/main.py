"""Segmentation of a 1d signal with a Trainer subclass that adds class weights and gradient clipping."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from trainer import Trainer


class SegmentationTrainer(Trainer):
    def __init__(self, *args, class_weights=None, clip=1.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weights = class_weights
        self.clip = clip

    def compute_loss(self, batch):
        signal, labels = batch
        logits = self.model(signal)
        return F.cross_entropy(logits, labels, weight=self.class_weights)

    def training_step(self, batch):
        loss = self.compute_loss(batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.update(loss)
        return loss.item()


def signals(n, length=40):
    labels = (torch.rand(n, length // 8) < 0.3).long().repeat_interleave(8, 1)
    signal = torch.randn(n, 1, length) * (0.3 + 1.2 * labels[:, None])
    return signal, labels


def main():
    torch.manual_seed(27)
    data = signals(120)
    model = nn.Sequential(
        nn.Conv1d(1, 8, 7, padding=3), nn.ReLU(),
        nn.Conv1d(8, 8, 7, padding=3), nn.ReLU(),
        nn.Conv1d(8, 2, 1))
    trainer = SegmentationTrainer(model, lr=5e-3, class_weights=torch.tensor([0.6, 1.4]), clip=0.5)
    trainer.fit(data, epochs=6, batch_size=20)
    with torch.no_grad():
        accuracy = (model(data[0]).argmax(1) == data[1]).float().mean().item()
    print(f"accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
