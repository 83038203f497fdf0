"""A state that one step leaves to the next, trained by Lightning."""

import lightning
import torch
from torch import nn

from gradsan.plug.lightning import GradsanCallback


class Recurrent(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.cell, self.state = nn.GRUCell(4, 4), torch.zeros(2, 4)

    def training_step(self, batch):
        self.state = self.cell(batch, self.state)
        return self.state.square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", logger=False, callbacks=[GradsanCallback()])
trainer.fit(Recurrent(), torch.ones(6, 2, 4))
