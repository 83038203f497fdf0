"""A memory that one batch leaves to the next, trained by Hugging Face's trainer."""

import torch
from torch import nn
from transformers import Trainer, TrainingArguments

from gradsan.plug.huggingface import GradsanCallback


class WithMemory(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.memory = nn.Linear(4, 4), torch.zeros(4)

    def forward(self, x):
        features = torch.tanh(self.layer(x) + self.memory)
        self.memory = features.mean(0)
        return {"loss": features.square().mean()}


arguments = TrainingArguments("out", num_train_epochs=1, report_to=[], use_cpu=True, save_strategy="no")
data = [{"x": torch.ones(4)}] * 48
Trainer(WithMemory(), arguments, train_dataset=data, callbacks=[GradsanCallback()]).train()
