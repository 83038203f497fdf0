"""A recurrent state that is carried into the next step, and stops it."""

import torch

cell = torch.nn.RNNCell(3, 4)
hidden = torch.zeros(1, 4)
try:
    for _step in range(3):
        hidden = cell(torch.ones(1, 3), hidden)
        loss = hidden.sum()
        loss.backward()
except RuntimeError as error:
    print(str(error).replace(". ", ".\n"))
