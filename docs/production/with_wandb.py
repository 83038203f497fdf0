"""The same job, with an alert of Weights & Biases for what gradsan finds."""

import torch
import wandb

import gradsan
from gradsan.plug.listeners import to_wandb

run = wandb.init(project="leak")
gradsan.install(budget="0.5%", to=to_wandb(run))
losses = []
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _step in range(1500):
    optimizer.zero_grad()
    loss = model(torch.ones(8, 3)).square().mean()
    loss.backward()
    optimizer.step()
    losses.append(loss)
gradsan.uninstall()
run.finish()
