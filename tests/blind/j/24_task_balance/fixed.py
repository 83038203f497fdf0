"""Scene understanding: segmentation, depth and surface normals from one encoder.

The three losses live on different scales. At each update they are weighted by how hard they
pull on the last layer of the encoder, then their weighted sum trains the whole network.
"""
import torch
import torch.nn.functional as F
from torch import nn

from balance_fixed import GradientBalancer
from scenes import Scenes


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.Conv2d(width, width, 3, padding=1)
        self.last = nn.Conv2d(width, width, 1)

    def forward(self, image):
        h = F.relu(self.stem(image))
        h = F.relu(self.body(h)) + h
        return torch.tanh(self.last(h))


class SceneNet(nn.Module):
    OUTPUTS = {"segment": 3, "depth": 1, "normal": 3}

    def __init__(self, width=12):
        super().__init__()
        self.encoder = Encoder(width)
        self.heads = nn.ModuleDict({
            name: nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, out, 1))
            for name, out in self.OUTPUTS.items()
        })

    def forward(self, image):
        features = self.encoder(image)
        return {name: head(features) for name, head in self.heads.items()}


def segment_loss(scores, label):
    return F.cross_entropy(scores, label)


def depth_loss(predicted, depth):
    return F.l1_loss(predicted, depth)


def normal_loss(predicted, normal):
    return 1 - F.cosine_similarity(predicted, normal, dim=1).mean()


LOSSES = {"segment": segment_loss, "depth": depth_loss, "normal": normal_loss}


class Experiment:
    def __init__(self, steps=40, batch=6, lr=5e-3):
        self.steps, self.batch = steps, batch
        self.net = SceneNet()
        self.balancer = GradientBalancer(self.net.encoder.last.weight, LOSSES)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.scenes = Scenes()

    def losses(self):
        image, truth = self.scenes.batch(self.batch)
        outputs = self.net(image)
        return {name: LOSSES[name](outputs[name], truth[name]) for name in LOSSES}

    def run(self):
        for step in range(self.steps):
            losses = self.losses()
            total = self.balancer.combine(losses)
            self.optimizer.zero_grad()
            total.backward()
            self.optimizer.step()
            if step % 8 == 0:
                shown = " ".join(f"{n} {v.item():.3f} (x{self.balancer.weights[n]:.2f})" for n, v in losses.items())
                print(f"step {step:2d} {shown}")


def main():
    torch.manual_seed(24)
    Experiment().run()


if __name__ == "__main__":
    main()
