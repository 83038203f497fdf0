"""Losses that are collected with their graphs, trained by Hugging Face's trainer."""

import torch
from torch import nn
from transformers import Trainer, TrainingArguments

from gradsan.plug.huggingface import GradsanCallback


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.losses = nn.Linear(4, 1), []

    def forward(self, x):
        loss = self.layer(x).square().mean()
        self.losses.append(loss)
        return {"loss": loss}


arguments = TrainingArguments("out", num_train_epochs=2, report_to=[], use_cpu=True, save_strategy="no")
data = [{"x": torch.ones(4)}] * 48
Trainer(Regression(), arguments, train_dataset=data, callbacks=[GradsanCallback()]).train()
