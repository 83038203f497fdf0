"""Toy detector: a classification and a box head over one trunk."""
import torch
from torch import nn
from torch.nn import functional as F

from meters_fixed import MetricLogger


class Detector(nn.Module):
    def __init__(self, width=12, classes=3):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.cls = nn.Linear(width, classes)
        self.box = nn.Linear(width, 4)

    def forward(self, images, targets):
        h = self.trunk(images)
        return {
            "loss_cls": F.cross_entropy(self.cls(h), targets["labels"]),
            "loss_box": F.smooth_l1_loss(self.box(h), targets["boxes"]),
        }


def batches(n):
    gen = torch.Generator().manual_seed(22)
    for _ in range(n):
        images = torch.randn(6, 8, generator=gen)
        targets = {
            "labels": torch.randint(0, 3, (6,), generator=gen),
            "boxes": torch.rand(6, 4, generator=gen),
        }
        yield images, targets


def train_one_epoch(model, optimizer, logger, epoch, steps=8):
    model.train()
    for step, (images, targets) in enumerate(batches(steps)):
        loss_dict = model(images, targets)
        losses = sum(loss_dict.values())

        optimizer.zero_grad()
        losses.backward()
        optimizer.step()

        logger.update(loss=losses, **loss_dict)
        logger.update(lr=optimizer.param_groups[0]["lr"])
        if step % 4 == 0:
            print(f"[{epoch}][{step}] {logger}")


def main():
    torch.manual_seed(2)
    model = Detector()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    logger = MetricLogger()
    for epoch in range(4):
        train_one_epoch(model, optimizer, logger, epoch)
        scheduler.step()
    print("final", logger)


if __name__ == "__main__":
    main()
