import torch.nn as nn


def generator(ch=1, width=8):
    return nn.Sequential(
        nn.Conv2d(ch, width, 3, padding=1), nn.InstanceNorm2d(width), nn.ReLU(inplace=True),
        nn.Conv2d(width, width, 3, padding=1), nn.InstanceNorm2d(width), nn.ReLU(inplace=True),
        nn.Conv2d(width, ch, 3, padding=1), nn.Tanh())


def discriminator(ch=1, width=8):
    return nn.Sequential(
        nn.Conv2d(ch, width, 4, stride=2, padding=1), nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(width, 1, 4, stride=2, padding=1))


def set_requires_grad(nets, flag):
    for net in nets:
        for p in net.parameters():
            p.requires_grad = flag
