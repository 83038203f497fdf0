"""A segmentation network; every pass keeps its graph."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.conv = nn.Conv2d(n_in, n_out, 3, padding=1)
        self.norm = nn.GroupNorm(2, n_out)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = Block(1, 4)
        self.middle = Block(4, 4)
        self.up = nn.Conv2d(8, 2, 1)

    def forward(self, image):
        fine = self.down(image)
        coarse = self.middle(nn.functional.max_pool2d(fine, 2))
        wide = nn.functional.interpolate(coarse, scale_factor=2.0)
        return self.up(torch.cat([fine, wide], 1))


class Step:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)

    def backward(self, loss):
        loss.backward(retain_graph=True)

    def __call__(self, image, mask):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(image), mask)
        self.backward(loss)
        self.optimizer.step()
        return loss.item()


def images(count):
    random = torch.Generator().manual_seed(210)
    for _ in range(count):
        image = torch.randn(2, 1, 8, 8, generator=random)
        yield image, (image[:, 0] > 0).long()


if __name__ == "__main__":
    torch.manual_seed(21)
    step = Step(Segmenter())
    for epoch in range(2):
        values = [step(*each) for each in images(6)]
        print(epoch, f"{sum(values) / len(values):.4f}")
