import torch
from torch.func import functional_call


class WeightAverage:
    """Exponential moving average of a network's weights, usable as a teacher."""

    def __init__(self, net, decay):
        self.net = net
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in net.named_parameters()}

    @torch.no_grad()
    def update(self):
        for name, p in self.net.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * p

    @torch.no_grad()
    def predict(self, x):
        return functional_call(self.net, self.shadow, (x,))
