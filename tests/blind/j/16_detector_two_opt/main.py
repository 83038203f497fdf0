"""Small object detector: one backbone, a class head and a box head.

A batch is seen once. The class loss and the box loss of that one forward pass are both
back-propagated into the backbone, and then the two optimizers (a slow one for the
backbone, a fast one for the heads) make their update for the batch.
"""
import torch
import torch.nn.functional as F
from torch import nn

SIZE = 12
SHAPES = 3


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.squeeze = nn.Linear(12 * 9, 32)

    def forward(self, images):
        h = F.relu(self.conv1(images))
        h = F.relu(self.conv2(h))
        return F.relu(self.squeeze(h.flatten(1)))


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.classes = nn.Linear(32, SHAPES)
        self.box = nn.Linear(32, 4)

    def forward(self, images):
        features = self.backbone(images)
        return self.classes(features), self.box(features).sigmoid()


def draw(count):
    """Images with one bright patch; its texture is the class, its place the box."""
    images = 0.1 * torch.randn(count, 1, SIZE, SIZE)
    labels = torch.randint(0, SHAPES, (count,))
    boxes = torch.empty(count, 4)
    for i in range(count):
        top, left = torch.randint(0, SIZE - 5, (2,)).tolist()
        patch = torch.ones(5, 5)
        if labels[i] == 1:
            patch[::2] = -1
        elif labels[i] == 2:
            patch[:, ::2] = -1
        images[i, 0, top:top + 5, left:left + 5] += patch
        boxes[i] = torch.tensor([top, left, top + 5, left + 5]) / SIZE
    return images, labels, boxes


def fit(model, steps=30):
    heads = [*model.classes.parameters(), *model.box.parameters()]
    opt_backbone = torch.optim.Adam(model.backbone.parameters(), lr=3e-3)
    opt_heads = torch.optim.Adam(heads, lr=5e-3)

    for step in range(steps):
        images, labels, boxes = draw(24)
        opt_backbone.zero_grad()
        opt_heads.zero_grad()

        scores, predicted = model(images)
        class_loss = F.cross_entropy(scores, labels)
        box_loss = F.smooth_l1_loss(predicted, boxes, beta=0.1)

        class_loss.backward(retain_graph=True)
        opt_backbone.step()
        box_loss.backward()
        opt_heads.step()

        if step % 10 == 0:
            print(f"step {step:2d} class {class_loss.item():.3f} box {box_loss.item():.3f}")


def main():
    torch.manual_seed(16)
    model = Detector()
    fit(model)
    images, labels, boxes = draw(100)
    with torch.no_grad():
        scores, predicted = model(images)
    print("accuracy", (scores.argmax(1) == labels).float().mean().item())
    print("box error", round((predicted - boxes).abs().mean().item(), 3))


if __name__ == "__main__":
    main()
