"""Texture synthesis: optimise an image until its Gram matrices match those of a sample."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1889)


class FeatureTap:
    """Collects the outputs of chosen layers with forward hooks."""

    def __init__(self, net, layers):
        self.seen = {}
        for name in layers:
            net.get_submodule(name).register_forward_hook(self._hook(name))

    def _hook(self, name):
        def store(_module, _inputs, output):
            self.seen[name] = output
        return store


def gram(features):
    _, c, h, w = features.shape
    flat = features.reshape(c, h * w)
    return flat @ flat.t() / (c * h * w)


def sample_texture(size=24):
    row = torch.arange(size)[:, None]
    col = torch.arange(size)[None, :]
    stripes = ((row + 2 * col) % 6 < 3).float()
    return torch.stack([stripes, 1 - stripes, 0.5 * stripes])[None]


# stand-in for the first blocks of a classification network
extractor = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(),
    nn.Conv2d(8, 12, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2),
    nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(),
).eval()

STYLE_LAYERS = {"1": 1.0, "3": 1.0, "6": 0.5}
tap = FeatureTap(extractor, STYLE_LAYERS)

extractor(sample_texture())
targets = {name: gram(out).detach() for name, out in tap.seen.items()}

image = torch.rand(1, 3, 24, 24, requires_grad=True)
optimizer = torch.optim.Adam([image], lr=0.03)


def closure():
    optimizer.zero_grad()
    extractor(image)
    style = sum(wt * F.mse_loss(gram(tap.seen[name]), targets[name]) for name, wt in STYLE_LAYERS.items())
    tv = (image[..., 1:] - image[..., :-1]).abs().mean() + (image[..., 1:, :] - image[..., :-1, :]).abs().mean()
    loss = 100.0 * style + 0.01 * tv
    loss.backward()
    return loss


for step in range(30):
    loss = optimizer.step(closure)
    with torch.no_grad():
        image.clamp_(0, 1)
    if step % 10 == 0:
        print(f"step {step:3d}  loss {loss.item():.5f}")
