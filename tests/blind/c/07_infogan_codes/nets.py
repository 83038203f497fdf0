from torch import nn


class Generator(nn.Sequential):
    def __init__(self, n_in):
        super().__init__(nn.Linear(n_in, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2))


class Discriminator(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))


class CodeReader(nn.Sequential):
    def __init__(self, codes):
        super().__init__(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, codes))
