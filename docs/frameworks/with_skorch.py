"""A state that one step leaves to the next, trained by skorch."""

import torch
from skorch import NeuralNetRegressor
from torch import nn

from gradsan.plug.skorch import GradsanCallback


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = nn.GRUCell(4, 4), torch.zeros(2, 4)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.state


net = NeuralNetRegressor(Recurrent, batch_size=2, train_split=None, callbacks=[GradsanCallback()])
net.fit(torch.ones(12, 4), torch.zeros(12, 4))
